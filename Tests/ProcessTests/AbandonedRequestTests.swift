import HTTP
import Platform
import Support
import Testing

/// One person whose clients ask for lists and leave at once, as a page does that is closed while it loads.
@Suite("Requests whose clients leave")
struct AbandonedRequestTests {
    private static let alice = "0000000a-0000-4000-8000-000000000000"

    private let stage: Stage
    private let alice: String
    private let bob: String

    init() throws {
        stage = try Stage()
        alice = try stage.token("user=alice&claim=oid=\(Self.alice)")
        bob = try stage.token("user=bob@example.com")
    }

    /// Starts a server on a database in which each search for alice's done tasks takes a hundredth of a second or more.
    private func slowServer() throws -> Server {
        // SQLite must follow the pages of each long text to learn whether the task is done.
        let settings = ["TASKS_MAX_TASKS": "5000"]
        let text = String(repeating: "x", count: 4096)
        let lines = (1...5000).map { exportLine(Self.alice, $0, text) } + [#"{"end":true,"tasks":5000}"#]
        let imported = try stage.run(["import"], settings, input: lines.joined(separator: "\n") + "\n")
        #expect(imported.end == .exit(0), "\(imported.errors)")
        return try stage.server(settings)
    }

    /// Sends requests of alice for lists, and leaves when the server has taken all of them.
    private func leave(
        _ count: Int, at server: Server, when areTaken: () throws -> Bool, _ query: (Int) -> String
    ) throws {
        let clients = try (0..<count).map { number in
            let client = try RawClient(port: server.port)
            client.resetWhenClosed()
            try client.send(
                "GET /api/tasks?\(query(number)) HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer \(alice)\r\n\r\n")
            return client
        }
        try eventuallyBlocking("the requests are taken", areTaken)
        withExtendedLifetime(clients) {}
    }

    private func waiting(_ server: Server) throws -> Int { try server.metric("tasks_store_waiting_reads") }

    /// The lists that were read or refused, also because they had waited for too long.
    private func done(_ server: Server) throws -> Int {
        try server.metric("tasks_store_lists_total{source=\"disk\"}") + server.metric("tasks_store_refused_total")
    }

    /// The number of lines of the log with these words.
    private func lines(_ server: Server, _ words: String) -> Int {
        server.process.output.split(separator: "\n").count { $0.contains(words) }
    }

    @Test func `Slow lists that nobody waits for are not read, refuse nobody, and delay no stop`() throws {
        let server = try slowServer()
        let (rounds, lists) = (3, 100)
        for round in 0...rounds {
            let before = try done(server)
            // Each list is another one, or they would share a read.
            try leave(lists, at: server) {
                // One or two are being read, and are not counted.
                try waiting(server) + done(server) - before >= lists - 2
            } _: {
                "completed=true&limit=\(1 + $0 + round * lists)&after=0"
            }
            guard round < rounds else { break }
            #expect(try server.ask("GET", "/api/tasks/1", token: bob).status != 503)
            #expect(try server.add("his", token: bob).status == 201)
            try eventuallyBlocking("they have left") { try waiting(server) == 0 }
            #expect(try done(server) - before < lists * 3 / 4)
        }
        let start = ContinuousClock.now
        #expect(try server.stop() == .exit(0))
        #expect(ContinuousClock.now - start < .seconds(9))
        #expect(lines(server, "store.overloaded") == 0)
    }
}
