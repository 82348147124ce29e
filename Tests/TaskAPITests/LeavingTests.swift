import HTTP
import JSON
import Support
import Tasks
import Testing
import Tokens

@testable import TaskAPI

@Suite("The right to leave: /api/me")
struct LeavingTests {
    private static let confirmed = [("Confirm-Delete", "yes")]

    @Test("Everything is deleted, at once for this person and for no other", arguments: Transport.allCases)
    func deletion(transport: Transport) async throws {
        let api = TestedAPI(transport)
        for token in ["alice", "alice", "bob"] { _ = try await api.send("POST", "/api/tasks", as: token, [], "task=x") }
        let answer = try await api.send("DELETE", "/api/me", as: "alice", Self.confirmed)
        #expect(answer.status == 204 && answer.body.isEmpty)
        #expect(try await api.send("GET", "/api/tasks", as: "alice").text == "[]")
        #expect(try await api.send("GET", "/api/tasks/1", as: "bob").status == 200)
        // Again, since the first answer may have been lost.
        #expect(try await api.send("DELETE", "/api/me", as: "alice", Self.confirmed).status == 204)
        let later = try await api.send("POST", "/api/tasks", as: "alice-later", [], "task=new")
        #expect(later.status == 201 && later.headers["Location"] == "/api/tasks/3")
        // The old token reads what is there, and changes nothing of it.
        #expect(try await api.send("GET", "/api/tasks/3", as: "alice").status == 200)
        #expect(try await api.send("DELETE", "/api/me", as: "alice", Self.confirmed).status == 204)
        #expect(try await api.send("GET", "/api/tasks/3", as: "alice-later").status == 200)
    }

    @Test("No route changes anything with a token from before", arguments: Transport.allCases)
    func oldToken(transport: Transport) async throws {
        let api = TestedAPI(transport)
        _ = try await api.send("DELETE", "/api/me", as: "alice", Self.confirmed)
        for text in ["x", "y"] {
            _ = try await api.send("POST", "/api/tasks", as: "alice-later", [], "task=\(text)&completed=true")
        }
        var before = try await api.send("GET", "/api/tasks", as: "alice-later").text
        for (_, definition) in api.api.routes.rows {
            let target = definition.pattern.replacing("{id}", with: "1").replacing("{owner}", with: "o")
                .replacing("{text}", with: "x")
            for method in [Method.post, .put, .patch, .delete] where definition.operation(method)?.scope == .write {
                guard target != "/api/me" else { continue }
                let isList = method == .patch && target == "/api/tasks"
                let body = isList ? #"[{"id":1,"completed":false}]"# : #"{"task":"x"}"#
                let answer = try await api.send(
                    method.name, target, as: "alice", [("Content-Type", "application/json"), problemJSON], body)
                #expect(answer.status == 403, "\(method.name) \(target)")
                #expect(answer.code == "account.deleted", "\(method.name) \(target)")
                let now = try await api.send("GET", "/api/tasks", as: "alice-later").text
                #expect(now == before, "\(method.name) \(target)")
                before = now
            }
        }
        let answer = try await api.send("DELETE", "/api/tasks?completed=true", as: "alice", [problemJSON])
        #expect(answer.status == 403 && before != "[]")
    }

    @Test("A deletion needs its confirmation and the scope to write", arguments: Transport.allCases)
    func refused(transport: Transport) async throws {
        let api = TestedAPI(transport) {
            $0.verifier = NameVerifier(required: RequiredScopes(read: "tasks.read", write: "tasks.write"))
        }
        #expect(try await api.send("DELETE", "/api/me", as: "alice-read", Self.confirmed).status == 403)
        let open = TestedAPI(transport)
        _ = try await open.send("POST", "/api/tasks", as: "alice", [], "task=x")
        let refused = ("Confirm-Delete", "no")
        for fields in [[], [refused], [("Confirm-Delete", "")], Self.confirmed + [refused]] {
            let answer = try await open.send("DELETE", "/api/me", as: "alice", fields + [problemJSON])
            #expect(answer.status == 428)
            #expect(answer.code == "account.unconfirmed" && answer.text.contains("Confirm-Delete: yes"))
        }
        let query = try await open.send("DELETE", "/api/me?all=true", as: "alice", Self.confirmed)
        #expect(query.status == 400)
        let all = try await open.send("DELETE", "/api/tasks?all=true", as: "alice")
        #expect(all.status == 400 && all.text.contains("DELETE /api/me deletes everything"))
        #expect(try await open.send("GET", "/api/tasks/1", as: "alice").status == 200)
    }

    @Test("An export is a file with everything, in pages if it is long", arguments: Transport.allCases)
    func export(transport: Transport) async throws {
        let answers = AnswerMemory(limit: 1 << 20)
        let api = TestedAPI(transport) { ($0.answers, $0.store) = (answers, MemoryTaskStore(answers: answers)) }
        let empty = try await api.send("GET", "/api/me/export", as: "alice")
        #expect(empty.text == #"{"owner":"\#(NameVerifier.alice)","next":null,"tasks":[]}"#)
        #expect(empty.headers["Content-Disposition"] == "attachment; filename=\"tasks.json\"")
        let notes = String(repeating: "n", count: 9000)
        for _ in 0..<12 { _ = try await api.send("POST", "/api/tasks", as: "alice", [], "task=x&notes=\(notes)") }
        var (target, ids, pages): (String?, [Int64], Int) = ("/api/me/export", [], 0)
        while let next = target {
            let answer = try await api.send("GET", next, as: "alice")
            let document = try #require(JSONValue(parsing: answer.body).object)
            for task in document["tasks"]?.array ?? [] {
                ids.append(task.object?["Id"]?.integer ?? 0)
                #expect(task.object?["notes"]?.string == notes)
            }
            target = document["next"]?.string
            #expect(answer.headers["Link"] == target.map { "<\($0)>; rel=\"next\"" })
            pages += 1
        }
        #expect(ids == Array(1...12) && pages > 1)
        #expect(try await api.send("GET", "/api/me/export?limit=2", as: "alice").status == 400)
        #expect(try await api.send("GET", "/api/me/export", as: "bob").text.contains(#""tasks":[]"#))
        await eventually { answers.statistics == .init(held: 0, refused: 0) }
    }
}
