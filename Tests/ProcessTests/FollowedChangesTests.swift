import Glibc
import JSON
import Platform
import Support
import Testing

/// Random histories of several clients of one person, of whom some ask and some have a stream, while servers and their
/// database are killed in the middle of changes, and start again.
@Suite("Clients that follow the changes have the list of servers that were killed", .serialized)
struct FollowedChangesTests {
    @Test func `A server with SQLite`() throws {
        let stage = try Stage()
        try run(6, at: KilledServers(stage, count: 1))
    }

    @Test func `Two servers with PostgreSQL, which is killed, too`() throws {
        let stage = try Stage(), database = try PostgreSQLServer()
        let settings = ["TASKS_DATABASE": try database.newDatabase(), "TASKS_KEY_CACHE_FILE": "off"]
        try run(3, at: KilledServers(stage, settings, count: 2, database))
    }

    private func run(_ histories: Int, at servers: KilledServers) throws {
        var random = SeededRandom()
        let start = ContinuousClock.now
        for number in 0..<histories * testTimes {
            var history = try History(at: servers, of: "10000000-0000-4000-8000-\(100_000_000_000 + number)")
            try history.run(&random)
            guard try history.isGood() else {
                Issue.record("history \(number): \(history.log.joined(separator: "; "))")
                return
            }
        }
        print("\(histories * testTimes) histories took \(ContinuousClock.now - start)")
    }
}

/// Servers of one database, each of which may be killed.
private final class KilledServers {
    let stage: Stage
    private let settings: [String: String]
    private let database: PostgreSQLServer?
    private(set) var all: [Server] = []

    init(_ stage: Stage, _ settings: [String: String] = [:], count: Int, _ database: PostgreSQLServer? = nil) throws {
        (self.stage, self.settings, self.database) = (stage, settings, database)
        for _ in 0..<count { all.append(try stage.server(settings)) }
    }

    /// Kills a server, or the database of all; returns what.
    func kill(_ random: inout SeededRandom) throws -> String {
        if let database, Bool.random(using: &random) {
            try database.kill9()
            try database.startAgain()
            for server in all { try server.awaitReadiness() }
            return "the database"
        }
        let number = Int.random(in: 0..<all.count, using: &random)
        all[number].process.send(SIGKILL)
        #expect(try all[number].process.wait() == .signal(SIGKILL))
        all[number] = try stage.server(settings)
        return "server \(number)"
    }
}

private struct History {
    private let servers: KilledServers
    private let token: String
    private var clients = (0..<4).map { Follower(streams: $0 >= 2) }
    /// The steps so far, for a person who looks for the reason of a failure.
    private(set) var log: [String] = []

    init(at servers: KilledServers, of person: String) throws {
        self.servers = servers
        token = try servers.stage.token("user=alice@example.com&claim=oid%3D\(person)")
    }

    mutating func run(_ random: inout SeededRandom) throws {
        for _ in 0..<Int.random(in: 10...40, using: &random) {
            switch Int.random(in: 0..<40, using: &random) {
            case 0: try killAmidChanges(&random)
            case 1..<4:
                let client = Int.random(in: 0..<clients.count, using: &random)
                log.append("client \(client) crashes")
                clients[client].crash()
            case 4..<20:
                for writer in try send(Int.random(in: 1...3, using: &random), &random) {
                    let status = try writer.response()?.status ?? 0
                    // A session may find out only now that the database was killed.
                    #expect((200..<500).contains(status) || status == 503)
                }
            default: step(Int.random(in: 0..<clients.count, using: &random))
            }
        }
        try killAmidChanges(&random)
        // The last change is at one server, and has to reach the streams of the other.
        try eventuallyBlocking("a last task is added") {
            try servers.all[0].add("the last", token: token).status == 201
        }
    }

    /// Lets every client go on until it has the list.
    mutating func isGood() throws -> Bool {
        for client in clients.indices {
            let hasList = try eventuallyBlocking("client \(client) has the list") {
                // What was sent before a kill may be done only now, so the list is read each time.
                let answer = try servers.all[0].ask("GET", "/api/tasks", token: token)
                let list = try? JSONValue(parsing: answer.body).array
                if !clients[client].known.hasMore, clients[client].known.list == list { return true }
                step(client)
                return false
            }
            guard hasList else { return false }
        }
        return true
    }

    private mutating func step(_ client: Int) {
        log.append("client \(client) \(clients[client].step(at: servers.all[client % servers.all.count], token))")
    }

    /// Kills in the middle of changes, whose answers nobody gets.
    private mutating func killAmidChanges(_ random: inout SeededRandom) throws {
        let writers = try send(8, &random)
        // This waits for nothing: it makes the moment of the kill a random one.
        usleep(UInt32.random(in: 0...20_000, using: &random))
        log.append("\(try servers.kill(&random)) is killed")
        withExtendedLifetime(writers) {}
    }

    /// Sends changes, each on a connection of its own, to any server.
    private mutating func send(_ count: Int, _ random: inout SeededRandom) throws -> [RawClient] {
        try (0..<count).map { _ in
            let server = servers.all[Int.random(in: 0..<servers.all.count, using: &random)]
            let client = try RawClient(port: server.port, timeout: 180)
            let (line, body) = Self.change(&random)
            log.append(line)
            try client.send(
                "\(line) HTTP/1.1\r\nHost: h\r\nConnection: close\r\nAuthorization: Bearer \(token)\r\n"
                    + "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
            return client
        }
    }

    private static func change(_ random: inout SeededRandom) -> (line: String, body: String) {
        let id = Int.random(in: 1...12, using: &random)
        let text = #"{"task":"text \#(Int.random(in: 1...3, using: &random))"}"#
        switch Int.random(in: 0..<10, using: &random) {
        case 0...4: return ("POST /api/tasks", text)
        case 5...6: return ("PATCH /api/tasks/\(id)", text)
        case 7: return ("PATCH /api/tasks", #"[{"id":\#(id),"completed":true},{"id":\#(id + 1),"task":"both"}]"#)
        case 8: return ("DELETE /api/tasks/\(id)", "")
        default: return ("DELETE /api/tasks?completed=true", "")
        }
    }
}

/// A client that asks, or reads a stream.
private struct Follower {
    let streams: Bool
    private(set) var known = FollowedList()
    private var stream: RawClient?

    init(streams: Bool) { self.streams = streams }

    /// Loses the connection.
    mutating func crash() { stream = nil }

    /// Asks once, opens a stream, or reads an event, and returns what it did.
    ///
    /// Whatever fails is tried again at the next step.
    mutating func step(at server: Server, _ token: String) -> String {
        do {
            if streams { return try readEvent(server, token) }
            let query = known.next.map { "since=\($0)&" } ?? ""
            let answer = try server.ask("GET", "/api/tasks/changes?\(query)limit=3", token: token)
            guard answer.status == 200 else { return "gets \(answer.status)" }
            known.take(try JSONValue(parsing: answer.body))
            return "asks"
        } catch {
            stream = nil
            return "fails: \(error)"
        }
    }

    private mutating func readEvent(_ server: Server, _ token: String) throws -> String {
        guard let stream else {
            let opened = try RawClient(port: server.port, timeout: 180)
            let point = known.next.map { "Last-Event-ID: \($0)\r\n" } ?? ""
            // With HTTP/1.0 events come without chunks around them.
            try opened.send(
                "GET /api/tasks/changes?limit=3 HTTP/1.0\r\nHost: h\r\nAuthorization: Bearer \(token)\r\n"
                    + "Accept: text/event-stream\r\n\(point)\r\n")
            let status = try opened.head()?.status
            if status == 200 { stream = opened }
            return "opens a stream: \(status ?? 0)"
        }
        guard stream.hasUnread else { return "waits" }
        let ending = try known.take(event: stream.read(to: "\n\n"))
        if ending != nil { self.stream = nil }
        return ending ?? "reads an event"
    }
}
