import Glibc
import HTTP
import JSON
import Platform
import Support
import Synchronization
import Testing

/// People whose long lists and lists of changes need memory at the same time, some of whom read nothing.
@Suite("Memory for long lists, from outside", .serialized, .timeLimit(.minutes(15)))
struct AnswerMemoryTests {
    enum Database: CaseIterable { case sqlite, postgresql }

    /// With a sanitizer only what the server counts itself is looked at.
    private static let readers = isSanitized ? 12 : 64
    private static let tasks = isSanitized ? 1000 : 10_000
    private static let resident = 256 << 20

    private let stage: Stage

    init() throws { stage = try Stage() }

    private func settings(_ database: Database) throws -> [String: String] {
        let most = ["TASKS_MAX_TASKS": "\(Self.tasks)"]
        guard database == .postgresql else { return most }
        let shared = ["TASKS_DATABASE": try PostgreSQLServer.started().newDatabase(), "TASKS_KEY_CACHE_FILE": "off"]
        return most.merging(shared) { $1 }
    }

    /// Gives a person this many tasks, of this many bytes U+0001 each, past the API: through it, it takes minutes.
    private func fill(_ owner: String, _ count: Int, _ bytes: Int, _ settings: [String: String]) throws {
        let columns = "owner, id, text, completed, created, modified, revision"
        let owners = "INSERT INTO owners(owner, next_id, tasks) VALUES ('\(owner)', \(count + 1), \(count))"
        if let address = settings["TASKS_DATABASE"] {
            try PostgreSQLServer.started().command(
                """
                INSERT INTO tasks(\(columns))
                SELECT '\(owner)', id, repeat(chr(1), \(bytes)), false, 1, 1, 1 FROM generate_series(1, \(count)) AS id;
                \(owners)
                """, in: PostgreSQLServer.name(of: address))
        } else {
            let script = """
                import sqlite3
                database = sqlite3.connect("\(stage.database)")
                rows = (("\(owner)", id, "\\x01" * \(bytes), 0, 1, 1, 1) for id in range(1, \(count + 1)))
                database.executemany("INSERT INTO tasks(\(columns)) VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
                database.execute("\(owners)")
                database.commit()
                """
            let python = try ChildProcess("/usr/bin/python3", ["-c", script])
            guard try python.wait() == .exit(0) else { throw ChildProcess.Failure(description: python.errors) }
        }
    }

    /// A number on the page of metrics.
    private func metric(_ name: String, of server: Server) throws -> Int {
        let page = try exchange(server.adminPort, "GET", "/metrics").text
        let line = page.split(separator: "\n").first { $0.hasPrefix("\(name) ") }
        return line.flatMap { Int($0.dropFirst(name.count + 1)) } ?? -1
    }

    /// The most memory that the server ever occupied.
    private func mostResident(_ server: Server) throws -> Int {
        let status = String(decoding: try File.read("/proc/\(server.process.identifier)/status"), as: UTF8.self)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
        return try #require(Int(line.filter(\.isNumber))) << 10
    }

    private func owner(_ token: String, at server: Server) throws -> String {
        let me = try JSONValue(parsing: try server.ask("GET", "/api/me", token: token).body)
        return try #require(me.object?["owner"]?.string)
    }

    /// Asks for the list, takes the head of the answer, and no more.
    private func slowReader(_ token: String, at server: Server) throws -> (RawClient, RawResponse) {
        let client = try RawClient(port: server.port, timeout: 60, receiveBuffer: 4096)
        try client.send("GET /api/tasks HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer \(token)\r\n\r\n")
        return (client, try #require(try client.head()))
    }

    @Test(arguments: Database.allCases)
    func `A slow reader takes a part of the memory for answers, whatever its list is, and delays no one`(
        database: Database
    ) throws {
        let (alice, bob) = (try stage.token(), try stage.token("user=bob@example.com"))
        let settings = try settings(database)
        let first = try stage.server(settings)
        let owners = (try owner(alice, at: first), try owner(bob, at: first))
        #expect(try first.stop() == .exit(0))
        try fill(owners.0, Self.tasks, 4096, settings)
        try fill(owners.1, 500, 100, settings)

        let server = try stage.server(settings)
        var readers: [RawClient] = []
        for round in 0..<Self.readers {
            // Each list is another one.
            let change = try server.ask(
                "PATCH", "/api/tasks/1", token: alice, ["Content-Type": "application/json"],
                body: "{\"completed\":\(round.isMultiple(of: 2))}")
            #expect(change.status == 200)
            let (client, head) = try slowReader(alice, at: server)
            if head.status == 200 {
                #expect(head.headers["Link"]?.contains("rel=\"next\"") == true)
                readers.append(client)
            } else {
                #expect(head.status == 503 && head.headers["Retry-After"] == "5")
            }
        }
        // Some of them may have been cut by now, as they read nothing: then others got their place.
        #expect(!readers.isEmpty)
        let limit = try metric("tasks_answer_bytes_limit", of: server)
        #expect(limit == 64 << 20)
        #expect((0...(limit / 4)).contains(try metric("tasks_answer_bytes", of: server)))
        #expect(try metric("tasks_answers_refused_total", of: server) >= 1)

        #expect(try server.texts(token: bob).count == 500)
        #expect(try server.add("more", token: bob).status == 201)
        #expect(try server.add("more", token: alice).status == 409)
        #expect(try server.ask("GET", "/api/tasks?limit=1", token: alice).status == 200)
        if !isSanitized { #expect(try mostResident(server) <= Self.resident) }

        readers = []
        _ = try server.process.await { _ in try metric("tasks_answer_bytes", of: server) == 0 ? true : nil }
        #expect(try server.ask("GET", "/api/tasks", token: alice).status == 200)
        #expect(try server.stop() == .exit(0))
    }

    /// Tokens of this many people, each with 1000 tasks of one letter.
    private func people(_ count: Int, _ settings: [String: String]) throws -> [String] {
        let tokens = try (0..<count).map {
            try stage.token("user=alice@example.com&claim=oid=0000000\($0)-0000-4000-8000-000000000000")
        }
        let first = try stage.server(settings)
        let owners = try tokens.map { try owner($0, at: first) }
        #expect(try first.stop() == .exit(0))
        for owner in owners { try fill(owner, 1000, 1, settings) }
        return tokens
    }

    /// How often each status came, of requests that are sent and read side by side; 0 is an answer that was cut.
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

    @Test(arguments: Database.allCases)
    func `Eight people change a thousand tasks each at the same time, and no one is refused`(
        database: Database
    ) throws {
        let settings = try settings(database)
        let people = try people(8, settings)
        let server = try stage.server(settings)
        for round in 0..<6 {
            let requests = people.map { changes($0, completed: round.isMultiple(of: 2)) }
            #expect(try atOnce(requests, to: server) == [200: 8])
        }
        #expect(try metric("tasks_answers_refused_total", of: server) == 0)
        #expect(try server.stop() == .exit(0))
    }

    @Test(arguments: Database.allCases)
    func `One person who reads nothing on all connections of an address refuses no one else`(
        database: Database
    ) throws {
        let settings = try settings(database)
        let people = try people(8, settings)
        let slow = try stage.token("user=bob@example.com")
        let first = try stage.server(settings)
        let owner = try owner(slow, at: first)
        #expect(try first.stop() == .exit(0))
        try fill(owner, 1000, 4096, settings)

        let server = try stage.server(settings)
        // Each list is another one: equal ones share their memory.
        let connections = isSanitized ? 60 : 250
        let unread = try (0..<connections).map { number in
            let client = try RawClient(port: server.port, receiveBuffer: 4096)
            try client.send(list(slow, "?limit=1000&after=\(number)"))
            return client
        }
        let page = try metric("tasks_answer_bytes_limit", of: server) / 16
        // Then all of them were answered. Some may have been cut by now, as they read nothing.
        for client in unread { _ = client.isAnswered }
        if !isSanitized {
            // With a sanitizer the server reads so slowly that the first are cut before the memory is full.
            #expect(try metric("tasks_answer_bytes", of: server) > page)
            #expect(try metric("tasks_answers_refused_total", of: server) > 0)
        }
        for round in 0..<3 {
            let lists = try atOnce(people.map { list($0) }, to: server)
            #expect(lists == [200: 8])
            let requests = people.map { changes($0, completed: round.isMultiple(of: 2)) }
            #expect(try atOnce(requests, to: server) == [200: 8])
            for person in people { #expect(try atOnce([changes(person, completed: true)], to: server) == [200: 1]) }
        }
        withExtendedLifetime(unread) {}
        #expect(try server.stop() == .exit(0))
    }
}
