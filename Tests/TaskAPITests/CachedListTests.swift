import HTTP
import SQLiteStore
import Support
import TaskAPI
import Tasks
import Testing

/// What needs no wait costs no task: a known token with its list in memory is answered by `decide` itself.
@Suite("What is cached is answered at once")
struct CachedListTests {
    /// The store that caches lists, with that of alice in memory.
    private let store: SQLiteTaskStore
    private let cached: TaskList
    private let folder: TemporaryFolder

    init() async throws {
        folder = try TemporaryFolder()
        store = try SQLiteTaskStore.open(path: folder.file("tasks.db"))
        cached = try await store.list(.all, of: Owner(NameVerifier.alice))
    }

    private func decide(_ target: String, as token: String, _ headers: HeaderFields = HeaderFields()) throws -> Decision
    {
        let api = TestedAPI(.inProcess) { $0.store = store }.api
        var headers = headers
        headers.append("Authorization", "Bearer \(token)")
        return api.decide(
            on: RequestHead(
                method: .get, target: try RequestTarget(parsing: target), headers: HeaderSection(headers.fields)))
    }

    @Test(arguments: [200, 304])
    func `A known token and a list in memory, also for a client that has the list already`(status: Int) throws {
        let headers: HeaderFields = status == 304 ? ["If-None-Match": cached.entityTag] : HeaderFields()
        guard case .respond(let response) = try decide("/api/tasks", as: "alice", headers) else {
            Issue.record("the request waits for something")
            return
        }
        #expect(response.status.rawValue == status && response.text == (status == 200 ? "[]" : ""))
        #expect(response.headers["ETag"] == cached.entityTag)
        #expect(response.headers["Cache-Control"] == "private, no-store")
        #expect(store.statistics.listMisses == 1)
    }

    @Test(arguments: [("/api/tasks?completed=true", "alice"), ("/api/tasks", "bob"), ("/api/tasks/1", "alice")])
    func `What is not cached waits`(target: String, token: String) async throws {
        let decision = try decide(target, as: token)
        guard case .wait = decision else {
            Issue.record("answered at once")
            return
        }
        let response = await decision.answered()
        #expect(response.status == (target == "/api/tasks/1" ? 404 : 200))
    }
}
