import MemoryStore
import HTTP
import Support
import Synchronization
import TaskAPI
import Tasks
import Testing

/// What needs no wait costs no task: a known token with its list in memory is answered by `decide` itself.
@Suite("What is cached is answered at once", .timeLimit(.minutes(15)))
struct CachedListTests {
    /// The store in memory with one cached list, and a count of the lists that were read.
    private final class CountingStore: TaskStore {
        private let memory = MemoryTaskStore()
        let reads = Atomic<Int>(0)
        let attempts = Mutex<[IdempotencyKey?]>([])

        func cachedList(of owner: Owner) -> TaskList? {
            owner == Owner(NameVerifier.alice) ? TaskList(json: Array("[]".utf8), entityTag: "\"cached\"") : nil
        }

        func list(_ query: TaskQuery, of owner: Owner) async throws(StoreError) -> TaskList {
            reads.add(1, ordering: .relaxed)
            return try await memory.list(query, of: owner)
        }

        func find(_ id: Int64, of owner: Owner) async throws(StoreError) -> TaskItem? {
            try await memory.find(id, of: owner)
        }

        func add(
            _ text: TaskText, completed: Bool, at time: Int64, attempt: IdempotencyKey?, limit: Int, of owner: Owner
        ) async throws(StoreError) -> AddOutcome {
            attempts.withLock { $0.append(attempt) }
            return try await memory.add(text, completed: completed, at: time, attempt: attempt, limit: limit, of: owner)
        }

        func change(
            _ id: Int64, _ change: TaskChange, expected: Set<Int64>?, at time: Int64, of owner: Owner
        ) async throws(StoreError) -> ChangeOutcome {
            try await memory.change(id, change, expected: expected, at: time, of: owner)
        }

        func remove(_ id: Int64, of owner: Owner) async throws(StoreError) -> Bool {
            try await memory.remove(id, of: owner)
        }

        func removeAll(with text: TaskText, of owner: Owner) async throws(StoreError) -> Int {
            try await memory.removeAll(with: text, of: owner)
        }

        func check() async throws(StoreError) {}

        func close() {}
    }

    private let store = CountingStore()

    private func decide(_ target: String, as token: String, _ headers: HeaderFields = HeaderFields()) throws -> Decision
    {
        let api = TestedAPI(.inProcess) { $0.store = store }.api
        var headers = headers
        headers.append("Authorization", "Bearer \(token)")
        return api.decide(
            on: RequestHead(method: .get, target: try RequestTarget(parsing: target), headers: headers))
    }

    @Test("A known token and a list in memory")
    func list() throws {
        guard case .respond(let response) = try decide("/api/tasks", as: "alice") else {
            Issue.record("it waits for something")
            return
        }
        #expect(response.status == 200 && response.text == "[]")
        #expect(response.headers["ETag"] == "\"cached\"" && response.headers["Cache-Control"] == "private, no-store")
        #expect(store.reads.load(ordering: .relaxed) == 0)
    }

    @Test("The digests of idempotency keys stay what they are: databases hold them", arguments: [false, true])
    func fingerprint(completed: Bool) async throws {
        let api = TestedAPI(.inProcess) { $0.store = store }
        let response = try await api.send(
            "POST", "/api/tasks", as: "alice", [("Content-Type", "application/json"), ("Idempotency-Key", "5b1c")],
            #"{"task":"milk","completed":\#(completed)}"#)
        #expect(response.status == 201)
        let wanted: UInt64 = completed ? 0xf4f5_e55c_05d7_6ed7 : 0xd456_e260_531b_5c48
        #expect(store.attempts.withLock { $0 } == [IdempotencyKey(key: "5b1c", fingerprint: wanted)])
    }

    @Test("The client has the list already")
    func notModified() throws {
        guard case .respond(let response) = try decide("/api/tasks", as: "alice", ["If-None-Match": "\"cached\""])
        else {
            Issue.record("it waits for something")
            return
        }
        #expect(response.status == 304)
    }

    @Test(
        "What is not cached waits",
        arguments: [("/api/tasks?completed=true", "alice"), ("/api/tasks", "bob"), ("/api/tasks/1", "alice")])
    func other(target: String, token: String) async throws {
        let decision = try decide(target, as: token)
        guard case .later = decision else {
            Issue.record("answered at once")
            return
        }
        let response = await decision.answered()
        #expect(response.status == (target == "/api/tasks/1" ? 404 : 200))
        #expect(response.headers["ETag"] != "\"cached\"")
    }
}
