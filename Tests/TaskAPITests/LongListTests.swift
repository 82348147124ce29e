import MemoryStore
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
        #expect(first.link == "</api/tasks?after=8>; rel=\"next\"" && first.count == 8)
        let second = try await ask(api, "GET", "/api/tasks?after=8")
        #expect(second.link == "</api/tasks?after=16>; rel=\"next\"" && second.count == 8)
        let third = try await ask(api, "GET", "/api/tasks?after=16")
        #expect(third.link == nil && third.count == 4)
        let open = try await ask(api, "GET", "/api/tasks?completed=false&limit=1000")
        #expect(open.link == "</api/tasks?completed=false&limit=1000&after=8>; rel=\"next\"")
        let tag = try #require(first.tag)
        let again = try await ask(api, "GET", "/api/tasks", [("If-None-Match", tag)])
        #expect(again.status == 304 && again.link == first.link)
        #expect(try await ask(api, "HEAD").link == first.link)
        #expect(answers.statistics == .init(held: 0, refused: 0))
    }

    @Test func `Is answered when another one of the same person has been sent`() async throws {
        let api = try await api(.inProcess, patience: .seconds(600))
        var taken = answers.lease(answers.limit / 4, for: Owner(NameVerifier.alice))
        async let answer = ask(api)
        await eventually { answers.statistics.waiting == 1 && taken != nil }
        taken = nil
        #expect(try await answer.status == 200)
        await eventually { answers.statistics == .init(held: 0, refused: 0) }
    }
}
