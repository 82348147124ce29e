import Basics
import Platform
import PostgreSQL
import Tasks

/// A session with the database: one thread uses it, and blocks until the database has answered.
final class Session {
    /// How long a session may take to get ready, once it is connected.
    private static let mostSeconds = 5

    private let connection: PipelineConnection
    /// Statements are prepared in it.
    private let isPrepared: Bool

    /// Connects, and prepares the statements if that is wanted and the session is not shared.
    init(to target: ConnectionTarget, for lanes: Lanes) throws(PostgreSQLError) {
        connection = try PipelineConnection(to: target)
        connection.limitWaits(toSeconds: Self.mostSeconds)
        let version = try PostgreSQLSchema.version(on: connection) ?? 0
        guard version <= PostgreSQLSchema.known else {
            throw PostgreSQLError(
                sqlState: nil, message: "the tables have version \(version), of a newer task-server")
        }
        isPrepared = lanes.isPreparing ? try Self.prepare(on: connection, for: lanes) : false
        try connection.enterPipeline()
    }

    /// Returns whether the session is ours alone: in a fresh one no name can be taken.
    private static func prepare(
        on connection: PipelineConnection, for lanes: Lanes
    ) throws(PostgreSQLError) -> Bool {
        do throws(PostgreSQLError) {
            for statement in TaskStatement.allCases {
                try connection.prepare(statement.preparedName, statement.sql, statement.types)
            }
            for statement in TransactionStatement.allCases {
                guard let name = statement.preparedName else { continue }
                try connection.prepare(name, statement.sql, statement.types)
            }
            return true
        } catch {
            guard error.kind == .unprepared else { throw error }
            lanes.stopPreparing()
            return false
        }
    }

    /// Throws if the server has ended the session, as far as that has arrived.
    func check() throws(PostgreSQLError) {
        // A server that ends a session sends a message before the end: the first call reads it, the second one the end.
        for _ in 0..<2 { try connection.receive() }
        if connection.isLost { throw connection.lastError }
    }

    /// Sends the statements of a batch in one round trip, and gives it their outcomes; throws if the session is lost.
    ///
    /// The deadline is of the monotonic clock, in nanoseconds.
    func run(
        _ batch: inout some Batch, prepared: Bool, until deadline: UInt64
    ) throws(PostgreSQLError) {
        for statement in batch.statements {
            try connection.send(statement.form(isPrepared: isPrepared && prepared), statement.parameters)
        }
        try connection.synchronize()
        for index in batch.statements.indices {
            switch try connection.nextOutcome(untilMonotonicNanoseconds: deadline) {
            case .rows(let rows): batch.receive(rows, at: index)
            case .failure(let error): batch.fail(error, at: index)
            case .skipped: break
            case .synchronized: throw PostgreSQLError(sqlState: nil, message: "an answer is missing")
            }
        }
        // A server that stops may say so after the last statement: what the batch did holds, but nothing follows it.
        guard case .synchronized = try connection.nextOutcome(untilMonotonicNanoseconds: deadline) else {
            throw connection.lastError
        }
    }
}
