import Basics
import Platform
import PostgreSQL
import PostgreSQLStore
import Tasks

/// The session that moves owners.
///
/// Servers cache nothing of PostgreSQL, so that a committed move is in their next answers. Rows of `owners` are locked in the
/// order of their names, as servers do it, before anything else of an owner is touched.
struct PostgreSQLOwnerDatabase: OwnerDatabase {
    private let connection: PipelineConnection
    private let time = SystemTime()

    init(_ connectionString: String, onlyReads: Bool) throws(OperatorError) {
        let (connection, name, isForeign) = try rethrowing(as: OperatorError.init) { () throws(StoreOpenError) in
            let database = try PostgreSQLDatabase(connectionString, onlyReads: onlyReads)
            let connection = try database.connectUpToDate(ifMissing: "start it once, or run `task-server migrate`")
            let isForeign = try database.translating { () throws(PostgreSQLError) in
                try PostgreSQLSchema.isForeign(on: connection)
            }
            return (connection, database.name, isForeign)
        }
        // No transaction covers two servers.
        guard onlyReads || !isForeign else {
            throw OperatorError(
                "the database \(name) has parts of its tables on other servers, and no transaction there changes two of them "
                    + "whole", advice: "export, replace the owners in the lines, and import into new tables")
        }
        self.connection = connection
    }

    func states(of owners: [Owner]) throws(OperatorError) -> [Owner: OwnerState] {
        try rethrowing(as: OperatorError.init) { () throws(PostgreSQLError) in try states(of: owners, expiry) }
    }

    /// Keys of this time and earlier are expired.
    private var expiry: Parameter { .integer(time.wallMilliseconds - IdempotencyKey.lifetime) }

    private func states(of owners: [Owner], _ expiry: Parameter) throws(PostgreSQLError) -> [Owner: OwnerState] {
        let rows = try connection.run(
            """
            SELECT owner, next_id, tasks, least(
                (SELECT min(id) FROM tasks WHERE tasks.owner = owners.owner),
                (SELECT min(id) FROM attempts WHERE attempts.owner = owners.owner AND time > $2))
            FROM owners WHERE owner = ANY ($1)
            """, [.texts(owners.map(\.identifier)), expiry])
        var states: [Owner: OwnerState] = [:]
        for row in 0..<rows.count {
            states[Owner(rows.text(row, 0))] = try Self.checking { () throws(ForeignValue) in
                try OwnerState(
                    storedNext: rows.integer(row, 1), tasks: rows.integer(row, 2),
                    first: rows.isNull(row, 3) ? nil : rows.integer(row, 3))
            }
        }
        return states
    }

    func ownersWithTasks(after owner: Owner) throws(OperatorError) -> [(owner: Owner, tasks: Int64)] {
        try rethrowing(as: OperatorError.init) { () throws(PostgreSQLError) in
            let rows = try connection.run(
                "SELECT owner, tasks FROM owners WHERE owner > $1 AND tasks > 0 ORDER BY owner LIMIT 1000",
                [.text(owner.identifier)])
            return (0..<rows.count).map { (Owner(rows.text($0, 0)), rows.integer($0, 1)) }
        }
    }

    /// Repeated while servers are in the way.
    func move(_ pair: OwnerPair, merging: Bool) throws(OperatorError) -> MoveOutcome {
        try rethrowing(as: OperatorError.init) { () throws(PostgreSQLError) in
            try connection.retrying(atMost: 50, pause: { UInt64($0) * 2_000_000 }) { () throws(PostgreSQLError) in
                try moveAtOnce(pair, merging: merging)
            }
        }
    }

    private func moveAtOnce(_ pair: OwnerPair, merging: Bool) throws(PostgreSQLError) -> MoveOutcome {
        try connection.beginGuaranteed()
        let (from, to) = (Parameter.text(pair.old.identifier), Parameter.text(pair.new.identifier))
        guard try lock(pair) else {
            _ = try connection.run("ROLLBACK")
            return .nothing
        }
        let expiry = expiry
        // A key that is no longer remembered must not keep a newer one of the same name away.
        _ = try connection.run("DELETE FROM attempts WHERE owner IN ($1, $2) AND time <= $3", [from, to, expiry])
        let states = try states(of: [pair.old, pair.new], expiry)
        let (old, new) = (states[pair.old] ?? OwnerState(), states[pair.new] ?? OwnerState())
        let move = try Self.checking { () throws(ForeignValue) in try OwnerMove(old, to: new, merging: merging) }
        guard case .rewrite(let offset, let next) = move else {
            // A row that was made for the new owner is not needed.
            _ = try connection.run("ROLLBACK")
            return move.outcome(old, new)
        }
        try rewrite(from, to, old, offset: .integer(offset), next: .integer(next))
        _ = try connection.run("COMMIT")
        return move.outcome(old, new)
    }

    private static func checking<Value>(_ work: () throws(ForeignValue) -> Value) throws(PostgreSQLError) -> Value {
        try rethrowing(as: { PostgreSQLError(sqlState: nil, message: $0.message) }, work)
    }

    /// Locks the rows of both owners, and makes that of the new one; false if the old one has none.
    private func lock(_ pair: OwnerPair) throws(PostgreSQLError) -> Bool {
        var hasOld = false
        for owner in [pair.old, pair.new].sorted() {
            let name = Parameter.text(owner.identifier)
            if owner == pair.new { _ = try connection.run(TaskStatement.makeOwner.sql, [name]) }
            let rows = try connection.run(TaskStatement.lockOwner.sql, [name])
            if owner == pair.old { hasOld = rows.count > 0 }
        }
        return hasOld
    }

    /// Copies and deletes: not every database of this kind changes an owner, by which the tables are divided, in place.
    private func rewrite(
        _ from: Parameter, _ to: Parameter, _ old: OwnerState, offset: Parameter, next: Parameter
    ) throws(PostgreSQLError) {
        _ = try connection.run(
            """
            INSERT INTO tasks(owner, \(TaskColumns.all))
            SELECT $2, id + $3, text, completed, created, modified, revision, \(TaskDetail.columns)
            FROM tasks WHERE owner = $1
            """, [from, to, offset])
        let gone = try connection.run(
            "WITH gone AS (DELETE FROM tasks WHERE owner = $1 RETURNING id) SELECT count(*) FROM gone", [from])
        guard gone.integer(0, 0) == old.tasks else {
            throw PostgreSQLError(
                sqlState: nil,
                message: "an owner has \(gone.integer(0, 0)) tasks, and the owner's row counts \(old.tasks)")
        }
        _ = try connection.run(
            """
            INSERT INTO attempts(\(AttemptColumns.all))
            SELECT $2, key, fingerprint, time, id + $3, text, completed, \(TaskDetail.columns)
            FROM attempts WHERE owner = $1
            ON CONFLICT DO NOTHING
            """, [from, to, offset])
        _ = try connection.run("DELETE FROM attempts WHERE owner = $1", [from])
        _ = try connection.run(
            "UPDATE owners SET next_id = $2, tasks = tasks + $3 WHERE owner = $1", [to, next, .integer(old.tasks)])
        // The row stays: it keeps the ids of the old owner from being given again.
        _ = try connection.run("UPDATE owners SET tasks = 0 WHERE owner = $1", [from])
    }
}
