import PostgreSQL

/// Statements that go out together and end at one point of synchronization.
///
/// Outcomes come in the order of sending, until one of them is a failure or the session is lost.
protocol Batch {
    var statements: [Statement] { get }
    /// A statement did its work.
    mutating func receive(_ rows: borrowing Rows, at index: Int)
    /// A statement failed; those after it were not run.
    mutating func fail(_ error: PostgreSQLError, at index: Int)
}

/// A statement that no caller waits for.
struct SingleStatement: Batch {
    let statements: [Statement]
    private(set) var rowCount = 0

    init(_ statement: Statement) { statements = [statement] }

    mutating func receive(_ rows: borrowing Rows, at index: Int) { rowCount = rows.count }

    mutating func fail(_ error: PostgreSQLError, at index: Int) {}
}
