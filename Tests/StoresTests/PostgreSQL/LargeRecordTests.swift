import PostgreSQLStore
import Glibc
import PostgreSQL
import Support
import Tasks
import Testing

/// TLS in records of 16 kB before the server that all tests share: twice what libpq makes room for.
private final class LargeRecords {
    let address: String
    private let folder: TemporaryFolder
    private let process: ChildProcess

    init(database: String) throws {
        folder = try TemporaryFolder()
        let (certificate, key) = (folder.file("certificate"), folder.file("key"))
        try ChildProcess.run(
            "/usr/bin/openssl",
            ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1"]
                + ["-subj", "/CN=localhost", "-keyout", key, "-out", certificate])
        let server = try PostgreSQLServer.started()
        process = try ChildProcess(
            "/usr/bin/python3",
            [TestFile("large-records.py").path, "\(server.port)", certificate, key])
        let port = try process.await { output in output.hasSuffix("\n") ? Int(output.dropLast()) : nil }
        address = PostgreSQLServer.address("test@127.0.0.1:\(port)/\(database)", "sslmode=require&gssencmode=disable")
    }
}

/// What is decrypted in the TLS library makes no socket readable: a wait for the socket would not end.
@Suite("PostgreSQL over TLS in records of 16 kB")
struct LargeRecordTests {
    private let owner = Owner("alice")
    private let records: LargeRecords

    init() throws {
        records = try LargeRecords(database: PostgreSQLServer.started().newDatabaseName())
    }

    @Test func `The store reads lists of any length without a pause`() async throws {
        let store = try PostgreSQLTaskStore.open(records.address)
        defer { store.close() }
        let items = try await added(490, to: store)
        #expect(try await store.lists(items, of: owner))
        for count in stride(from: 1, through: 30, by: isSanitized ? 7 : 1) {
            let query = TaskQuery(limit: count)
            #expect(try await store.lists(Array(items[..<count]), query, next: items[count - 1].id, of: owner))
        }
    }

    @Test func `A session outside of the store reads any number of rows`() throws {
        let connection = try PipelineConnection(to: ConnectionTarget(parsing: records.address))
        for count in 1...30 {
            let rows = try connection.run(
                "SELECT repeat('x', 4096) FROM generate_series(1, $1)", [.integer(Int64(count))], within: 30)
            #expect(rows.count == count)
        }
    }

    /// Tasks of the longest text, in the order of their ids.
    private func added(_ count: Int, to store: any TaskStore) async throws -> [TaskItem] {
        let text = String(repeating: "x", count: TaskText.longest)
        let items = try await atOnce(0..<count) { [owner] _ in try await store.added(text, of: owner) }
        return items.sorted { $0.id < $1.id }
    }
}
