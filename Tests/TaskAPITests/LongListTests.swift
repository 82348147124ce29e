import HTTP
import JSON
import Support
import TaskAPI
import Tasks
import Testing

@Suite("A list too long for one answer")
struct LongListTests {
    private let answers = AnswerMemory(limit: 1 << 20)

    private func api(_ transport: Transport, patience: Duration = .milliseconds(50)) async throws -> TestedAPI {
        let api = TestedAPI(transport) {
            $0.store = MemoryTaskStore(answers: answers)
            ($0.answers, $0.answerPatience) = (answers, patience)
        }
        for _ in 0..<20 {
            let text = String(repeating: "x", count: 4096)
            #expect(try await api.send("POST", "/api/tasks", as: "alice", [], "task=\(text)").status == 201)
        }
        return api
    }

    /// An answer without the list, whose memory is given back.
    private func ask(
        _ api: TestedAPI, _ method: String = "GET", _ target: String = "/api/tasks", _ headers: [(String, String)] = []
    ) async throws -> (status: Status, link: String?, tag: String?, count: Int?) {
        let answer = try await api.send(method, target, as: "alice", headers)
        let tasks = answer.body.isEmpty ? nil : try JSONValue(parsing: answer.body).array
        return (answer.status, answer.headers["Link"], answer.headers["ETag"], tasks?.count)
    }

    @Test(arguments: Transport.allCases)
    func `Comes in pages, with the next one in Link`(transport: Transport) async throws {
        let api = try await api(transport)
        let first = try await ask(api)
        #expect(first.link == "</api/tasks?after=7>; rel=\"next\"" && first.count == 7)
        let second = try await ask(api, "GET", "/api/tasks?after=7")
        #expect(second.link == "</api/tasks?after=14>; rel=\"next\"" && second.count == 7)
        let third = try await ask(api, "GET", "/api/tasks?after=14")
        #expect(third.link == nil && third.count == 6)
        let open = try await ask(api, "GET", "/api/tasks?completed=false&limit=1000")
        #expect(open.link == "</api/tasks?completed=false&limit=1000&after=7>; rel=\"next\"")
        let tag = try #require(first.tag)
        let again = try await ask(api, "GET", "/api/tasks", [("If-None-Match", tag)])
        #expect(again.status == 304 && again.link == first.link)
        #expect(try await ask(api, "HEAD").link == first.link)
        #expect(answers.statistics == .init(held: 0, refused: 0))
    }

    @Test func `Is answered when another one of the same person has been sent`() async throws {
        let api = try await api(.inProcess, patience: .seconds(600))
        var taken = (0..<2).map { _ in answers.place(for: Owner(NameVerifier.alice)) }
        async let answer = ask(api)
        await eventually { answers.statistics.waiting == 1 && taken.count == 2 }
        taken.removeLast()
        #expect(try await answer.status == 200)
        taken = []
        await eventually { answers.statistics == .init(held: 0, refused: 0) }
    }

    @Test(
        "Is answered with the last place of all, also its changes and its export",
        arguments: ["/api/tasks", "/api/tasks?completed=false", "/api/tasks/changes", "/api/me/export"])
    func lastPlace(target: String) async throws {
        let api = try await api(.inProcess)
        let taken = (0..<AnswerMemory.places - 1).map { answers.place(for: Owner("\($0 / 2)")) }
        for coding in ["identity", "gzip"] {
            let answer = try await api.send("GET", target, as: "alice", [("Accept-Encoding", coding)])
            #expect(answer.status == 200 && answer.body.count > 0)
        }
        await eventually { answers.statistics == .init(held: taken.count * answers.pageSize, refused: 0) }
    }

    @Test(
        "Is refused without a place, after the patience",
        arguments: ["/api/tasks", "/api/tasks/changes", "/api/me/export"])
    func refused(target: String) async throws {
        let api = try await api(.inProcess)
        let taken = (0..<2).map { _ in answers.place(for: Owner(NameVerifier.alice)) }
        let answer = try await api.send("GET", target, as: "alice", [problemJSON])
        #expect(answer.status == 503 && answer.code == "list.no_room" && answer.headers["Retry-After"] == "5")
        #expect(answers.statistics == .init(held: 2 * answers.pageSize, refused: 1) && taken.count == 2)
    }
}
