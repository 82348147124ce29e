import Platform
import Support
import Synchronization
import Testing

/// People whose long lists and lists of changes need memory at the same time, some of whom read nothing.
@Suite("Memory for long lists, from outside", .serialized)
struct AnswerMemoryTests {
    private static let (tasks, resident) = (1000, 256 << 20)

    private let stage: Stage

    init() throws { stage = try Stage() }

    private func owner(_ person: Int) -> String { "0000000\(person)-0000-4000-8000-000000000000" }

    private func token(_ person: Int) throws -> String { try stage.token("user=alice&claim=oid=\(owner(person))") }

    /// Gives each person tasks with texts of this many bytes, by an import, which is faster than adding each.
    private func fill(_ people: Range<Int>, _ count: Int, _ bytes: Int, _ settings: [String: String]) throws {
        let text = String(repeating: "x", count: bytes)
        let lines = people.map(owner).flatMap { owner in (1...count).map { exportLine(owner, $0, text) } }
        let end = #"{"end":true,"tasks":\#(lines.count)}"#
        let imported = try stage.run(["import"], settings, input: (lines + [end]).joined(separator: "\n") + "\n")
        #expect(imported.end == .exit(0), "\(imported.errors)")
    }

    /// The most memory that the server ever occupied.
    private func mostResident(_ server: Server) throws -> Int {
        let status = String(decoding: try File.read("/proc/\(server.process.identifier)/status"), as: UTF8.self)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
        return try #require(Int(line.filter(\.isNumber))) << 10
    }

    /// Sends requests side by side, and returns how often each status came, with 0 for an answer that was cut.
    private func atOnce(_ requests: [String], to server: Server) throws -> [Int: Int] {
        let port = server.port
        let statuses = Mutex<[Int: Int]>([:])
        let clients = try requests.map { request in
            try NamedThread.start("client") {
                let client = try? RawClient(port: port)
                try? client?.send(request)
                let status = (try? client?.response())?.status ?? 0
                statuses.withLock { $0[status, default: 0] += 1 }
            }
        }
        for client in clients { client.join() }
        return statuses.withLock { $0 }
    }

    private func list(_ token: String, _ query: String = "") -> String {
        "GET /api/tasks\(query) HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer \(token)\r\n\r\n"
    }

    /// A request that changes all of a person's 1000 tasks.
    private func changes(_ token: String, completed: Bool) -> String {
        let body = "[" + (1...1000).map { #"{"id":\#($0),"completed":\#(completed)}"# }.joined(separator: ",") + "]"
        return "PATCH /api/tasks HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer \(token)\r\n"
            + "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    @Test func `One person who reads nothing on all connections of an address refuses no one else`() throws {
        let settings = ["TASKS_MAX_TASKS": "\(Self.tasks)"]
        let (people, slow) = (try (0..<8).map(token), try token(8))
        try fill(0..<8, Self.tasks, 1, settings)
        try fill(8..<9, Self.tasks, 4096, settings)
        let server = try stage.server(settings)
        // Each reader asks for another page, since readers of equal pages share memory.
        let connections = isSanitized ? 60 : 250
        var unread = try (0..<connections).map { number in
            let client = try RawClient(port: server.port, receiveBuffer: 4096)
            try client.send(list(slow, "?limit=1000&after=\(number)"))
            return client
        }
        let page = try server.metric("tasks_answer_bytes_limit") / 16
        // Now all of them are answered. The server may have cut some, because they read nothing.
        for client in unread { _ = client.isAnswered }
        if !isSanitized {
            // With a sanitizer the server is so slow that it cuts the first readers before the memory is full.
            #expect((page + 1...4 * page).contains(try server.metric("tasks_answer_bytes")))
            #expect(try server.metric("tasks_answers_refused_total") > 0)
        }
        for round in 0..<3 {
            #expect(try atOnce(people.map { list($0) }, to: server) == [200: 8])
            let requests = people.map { changes($0, completed: round.isMultiple(of: 2)) }
            #expect(try atOnce(requests, to: server) == [200: 8])
            for person in people { #expect(try atOnce([changes(person, completed: true)], to: server) == [200: 1]) }
        }
        if !isSanitized { #expect(try mostResident(server) <= Self.resident) }
        unread = []
        _ = try server.process.await { _ in try server.metric("tasks_answer_bytes") == 0 ? true : nil }
        #expect(try server.ask("GET", "/api/tasks", token: slow).status == 200)
        #expect(try server.stop() == .exit(0))
    }
}
