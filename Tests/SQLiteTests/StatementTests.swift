import SQLite
import Testing

@Suite("Statements keep values exactly")
struct StatementTests {
    private func table() throws -> Connection {
        let connection = try Connection(path: ":memory:", mode: .readWriteCreate)
        try connection.execute("CREATE TABLE t(a INTEGER, b TEXT)")
        return connection
    }

    @Test(arguments: ["", "a", "a\0b", "caf\u{E9}", "cafe\u{301}", "😀", "'; DROP TABLE t; --", "\u{FEFF}x\n"])
    func `Text is read byte for byte as it was bound`(value: String) throws {
        let connection = try table()
        try connection.prepare("INSERT INTO t VALUES (?1, ?2)").run(1 as Int64, value)
        let statement = try connection.prepare("SELECT b, length(CAST(b AS BLOB)) FROM t WHERE b = ?1")
        try statement.bind(value)
        let hasRow = try statement.step()
        #expect(hasRow)
        let text = statement.text(0)
        #expect(text.utf8.elementsEqual(value.utf8))
        let bytes = statement.integer(1)
        #expect(bytes == Int64(value.utf8.count))
        let isNull = statement.isNull(0)
        #expect(!isNull)
        let hasMore = try statement.step()
        #expect(!hasMore)
    }

    @Test(arguments: [Int64.min, -1, 0, 1, Int64.max])
    func `Integers, truth values and NULL are read as they were bound`(value: Int64) throws {
        let connection = try table()
        let insert = try connection.prepare("INSERT INTO t VALUES (?1, ?2)")
        try insert.run(value, String?.none)
        try insert.run(true, String?.some("x"))
        let statement = try connection.prepare("SELECT a, b FROM t ORDER BY rowid")
        let hasFirst = try statement.step()
        #expect(hasFirst)
        let first = statement.integer(0)
        #expect(first == value)
        let firstIsNull = statement.isNull(1)
        #expect(firstIsNull)
        let hasSecond = try statement.step()
        #expect(hasSecond)
        let second = statement.integer(0)
        #expect(second == 1)
        let words = statement.text(1)
        #expect(words == "x")
    }

    @Test func `A statement may outlive the handle of its connection`() throws {
        func make() throws -> SQLiteStatement { try table().prepare("SELECT 42") }
        let statement = try make()
        let hasAnswer = try statement.step()
        #expect(hasAnswer)
        let answer = statement.integer(0)
        #expect(answer == 42)
    }
}
