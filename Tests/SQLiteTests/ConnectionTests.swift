import SQLite
import Testing

@Suite("Connections report what goes wrong")
struct ConnectionTests {
    private func memory() throws -> Connection {
        try Connection(path: ":memory:", mode: .readWriteCreate)
    }

    @Test func `A file that cannot be opened is an error`() {
        let error = #expect(throws: SQLiteError.self) {
            _ = try Connection(path: "/nonexistent/folder/file.db", mode: .readWriteCreate)
        }
        #expect(error?.kind == .cannotOpen)
        #expect(error?.message == "unable to open database file")
    }

    @Test func `The message of a constraint names the column, not the value`() throws {
        let connection = try memory()
        try connection.execute("CREATE TABLE t(a TEXT UNIQUE)")
        let insert = try connection.prepare("INSERT INTO t VALUES (?1)")
        try insert.run("secret words")
        let error = #expect(throws: SQLiteError.self) { try insert.run("secret words") }
        #expect(error?.kind == .constraint)
        #expect(error?.code == 2067)
        #expect(error?.description == "UNIQUE constraint failed: t.a (SQLite 2067)")
    }

    @Test func `A full disk ends the transaction, not the connection`() throws {
        let connection = try memory()
        try connection.execute("CREATE TABLE t(a TEXT); PRAGMA max_page_count = 4")
        let insert = try connection.prepare("INSERT INTO t VALUES (?1)")
        let error = #expect(throws: SQLiteError.self) {
            try connection.execute("BEGIN IMMEDIATE")
            for _ in 0..<100 { try insert.run(String(repeating: "x", count: 4000)) }
        }
        #expect(error?.kind == .full)
        connection.rollBack()
        let isOpen = connection.isInTransaction
        #expect(!isOpen)
        #expect(try connection.integer("SELECT count(*) FROM t") == 0)
        try insert.run("small")
        #expect(try connection.integer("SELECT count(*) FROM t") == 1)
    }

    @Test func `A wrong statement and an empty one are errors`() throws {
        let connection = try memory()
        for sql in ["SELEKT 1", "", "-- nothing"] {
            let error = #expect(throws: SQLiteError.self) { _ = try connection.prepare(sql).step() }
            #expect(error?.kind == .other)
        }
    }

    @Test func `A transaction that is rolled back changes nothing`() throws {
        let connection = try memory()
        try connection.execute("CREATE TABLE t(a INTEGER); BEGIN IMMEDIATE; INSERT INTO t VALUES (1)")
        connection.rollBack()
        // Without a transaction there is nothing to roll back.
        connection.rollBack()
        #expect(try connection.integer("SELECT count(*) FROM t") == 0)
        try connection.execute("INSERT INTO t VALUES (1)")
        let changes = connection.changes
        #expect(changes == 1)
    }
}
