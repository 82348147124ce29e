package import Basics
import JSON
import PostgreSQL
import StoreEngine
package import Tasks

/// The tables of a PostgreSQL database, for a command that may run beside servers.
///
/// A statement that locks or writes names one owner, as Citus wants it.
package final class PostgreSQLTables: OwnerTables {
    private let session: PostgreSQLSession

    package init(_ connectionString: String, for use: TableUse) throws(OperatorError) {
        let database = try PostgreSQLDatabase(connectionString, onlyReads: use == .read)
        if use == .fill { _ = try database.prepare(partitions: nil) }
        let connection = try database.connectUpToDate()
        session = try database.translating { () throws(PostgreSQLError) in
            let isDistributed = try PostgreSQLSchema.division(on: connection).isDistributed
            var options = PostgreSQLStoreOptions()
            options.deadlineMilliseconds = 60_000
            let preparation = StatementPreparation { _ in }
            if use != .fill { preparation.stop() }
            return try PostgreSQLSession(
                number: 1,
                PostgreSQLSession.Configuration(
                    target: database.target, options: options, isDistributed: isDistributed, preparation: preparation,
                    isHealthy: { true }), on: connection)
        }
    }

    /// The rows of a statement that is run with each of these parameters, in one round trip.
    private func rows<Value>(
        _ sql: String, _ values: [[Parameter]], _ read: (borrowing Rows, Int) throws(ForeignValue) -> Value
    ) throws(PostgreSQLError) -> [Value] {
        var found: [Value] = []
        var foreign: ForeignValue?
        try session.run(sql, values) { rows in
            for row in 0..<rows.count where foreign == nil {
                do throws(ForeignValue) { found.append(try read(rows, row)) } catch { foreign = error }
            }
        }
        if let foreign { throw Self.corrupt(foreign.message) }
        return found
    }

    private static func corrupt(_ message: String) -> PostgreSQLError {
        PostgreSQLError(sqlState: nil, message: message)
    }

    // MARK: Reads of export

    package func countTasks() throws(OperatorError) -> Int64 {
        try rethrowing(as: OperatorError.init) { () throws(PostgreSQLError) in
            try rows("SELECT CAST(sum(tasks) AS bigint) FROM owners", [[]]) { $0.integer($1, 0) }.first ?? 0
        }
    }

    package func contents(of owner: Owner) throws(OperatorError) -> (tasks: Int64, keys: Int64)? {
        try rethrowing(as: OperatorError.init) { () throws(PostgreSQLError) in
            try rows(
                "SELECT tasks, (SELECT count(*) FROM attempts WHERE owner = $1) FROM owners WHERE owner = $1",
                [[.text(owner.identifier)]]
            ) { ($0.integer($1, 0), $0.integer($1, 1)) }.first
        }
    }

    package func stored(
        _ range: OwnerRange, expiry: Int64, _ choose: ([CountedOwner]) -> [CountedOwner]
    ) throws(OperatorError) -> StoredOwners {
        try rethrowing(as: OperatorError.init) { () throws(PostgreSQLError) in
            try session.exchangeAll([BoundStatement(.beginReads)])
            let found = try read(range, expiry, choose)
            try session.exchangeAll([BoundStatement(.commit)])
            return found
        }
    }

    private func read(
        _ range: OwnerRange, _ expiry: Int64, _ choose: ([CountedOwner]) -> [CountedOwner]
    ) throws(PostgreSQLError) -> StoredOwners {
        let start = Parameter.text(range.start.identifier)
        let owners = try rows(
            "SELECT owner, next_id, tasks FROM owners WHERE owner \(range.isOne ? "=" : ">") $1 "
                + "ORDER BY owner LIMIT \(OwnerRange.most)", [[start]], Self.countedOwner)
        var found = StoredOwners(choose(owners))
        guard let last = found.owners.last?.owner.identifier else {
            if !range.isOne { found.tasks = try tasks("owner > $1 LIMIT 1", [start]) }
            return found
        }
        let isInside = "owner \(range.isOne ? ">=" : ">") $1 AND owner <= $2"
        found.tasks = try tasks("\(isInside) ORDER BY owner, id", [start, .text(last)])
        found.records = try rows(
            "SELECT \(IdempotencyRecord.columns.names) FROM attempts WHERE \(isInside) AND time > $3 ORDER BY owner, key",
            [[start, .text(last), .integer(expiry)]]
        ) { (rows, row) throws(ForeignValue) in
            try IdempotencyRecord(of: Owner(stored: rows.text(row, 0))) {
                rows.value(of: IdempotencyRecord.columns[$0 + 1], row, $0 + 1)
            }
        }
        return found
    }

    private func tasks(_ condition: String, _ values: [Parameter]) throws(PostgreSQLError) -> [TaskItem] {
        try rows("SELECT owner, \(TaskColumns.all) FROM tasks WHERE \(condition)", [values]) {
            (rows, row) throws(ForeignValue) in
            try TaskColumns.item(in: rows, row, from: 1, of: Owner(stored: rows.text(row, 0)))
        }
    }

    private static func countedOwner(_ rows: borrowing Rows, _ row: Int) throws(ForeignValue) -> CountedOwner {
        let counts = try OwnerCounts(storedNext: rows.integer(row, 1), tasks: rows.integer(row, 2))
        return (try Owner(stored: rows.text(row, 0)), counts)
    }

    // MARK: Writes of import

    package func run<Command: TaskCommand>(_ commands: [Command]) throws(OperatorError) -> [Command.Outcome] {
        guard session.isDistributed, commands.count > 1 else { return try runTogether(commands) }
        var outcomes: [Command.Outcome] = []
        for command in commands { outcomes += try runTogether([command]) }
        return outcomes
    }

    private func runTogether<Command: TaskCommand>(_ commands: [Command]) throws(OperatorError) -> [Command.Outcome] {
        // The commands lock owners in the same order as servers do.
        let commands = commands.sorted { $0.owner < $1.owner }
        return try transaction { () throws(PostgreSQLError) in
            var owners: [PostgreSQLTransaction] = []
            var (statements, places): ([BoundStatement], [Int]) = ([], [])
            for command in commands {
                var owner = PostgreSQLTransaction(of: command.owner, on: session)
                let first = owner.lockingStatements(for: [command.reads])
                statements += first
                places += first.map { _ in owners.count }
                owners.append(owner)
            }
            try session.exchangeAll(statements) { owners[places[$0]].receive($1, of: statements[$0].kind) }
            var outcomes: [Command.Outcome] = []
            for place in owners.indices { outcomes.append(try commands[place].run(on: &owners[place])) }
            try session.exchangeAll(owners.indices.flatMap { owners[$0].takeWrites() })
            return outcomes
        }
    }

    /// Runs a body in a transaction, again while servers are in its way.
    private func transaction<Outcome>(
        _ body: () throws(PostgreSQLError) -> Outcome
    ) throws(OperatorError) -> Outcome {
        let rollBack = { () -> Void in _ = try? self.session.exchangeAll([BoundStatement(.rollBack)]) }
        return try rethrowing(as: OperatorError.init) { () throws(PostgreSQLError) in
            try PipelineConnection.retrying(
                atMost: 50, pause: { UInt64($0) * 2_000_000 }, undo: rollBack
            ) { () throws(PostgreSQLError) in
                // Each statement has a minute.
                try session.exchangeAll([
                    BoundStatement(.begin), BoundStatement(.transactionSettings, [.text("60000")]),
                ])
                let outcome = try body()
                var isCommitted = false
                try session.exchangeAll([BoundStatement(.commit)]) { isCommitted = $1.command == "COMMIT" }
                guard isCommitted else { throw Self.corrupt("a commit was not confirmed") }
                return outcome
            }
        }
    }

    // MARK: Reads and writes of move-owners

    package func ownersWithTasks(after owner: Owner) throws(OperatorError) -> [(owner: Owner, tasks: Int64)] {
        try rethrowing(as: OperatorError.init) { () throws(PostgreSQLError) in
            try rows(
                "SELECT owner, tasks FROM owners WHERE owner > $1 AND tasks > 0 ORDER BY owner LIMIT 1000",
                [[.text(owner.identifier)]]
            ) { (Owner($0.text($1, 0)), $0.integer($1, 1)) }
        }
    }

    package func states(of owners: [Owner], expiry: Int64) throws(OperatorError) -> [Owner: OwnerState] {
        try rethrowing(as: OperatorError.init) { () throws(PostgreSQLError) in try known([owners], expiry) }
    }

    /// The states of groups of one size, each read by one statement.
    private func known(_ groups: [[Owner]], _ expiry: Int64) throws(PostgreSQLError) -> [Owner: OwnerState] {
        let names = (groups.first ?? []).indices.map { "$\($0 + 2)" }.joined(separator: ", ")
        let states = try rows(
            """
            SELECT owner, next_id, tasks, (SELECT min(id) FROM tasks WHERE tasks.owner = owners.owner),
                (SELECT min(id) FROM attempts WHERE attempts.owner = owners.owner AND time > $1)
            FROM owners WHERE owner IN (\(names))
            """, groups.map { [.integer(expiry)] + $0.map { .text($0.identifier) } }
        ) { (rows, row) throws(ForeignValue) in
            let (owner, counts) = try Self.countedOwner(rows, row)
            let ids = [3, 4].map { rows.isNull(row, $0) ? nil : rows.integer(row, $0) }
            return (owner, try OwnerState(counts, firstTask: ids[0], firstKey: ids[1]))
        }
        return Dictionary(states) { state, _ in state }
    }

    package func move(
        _ old: Owner, to new: Owner, expiry: Int64,
        _ decide: (OwnerState, OwnerState) throws(ForeignValue) -> OwnerRewrite?
    ) throws(OperatorError) {
        try transaction { () throws(PostgreSQLError) in
            let made = BoundStatement(.makeOwner, of: new, [.integer(ChangePoint.newOrigin)])
            let locks = [old, new].sorted().flatMap { ($0 == new ? [made] : []) + [BoundStatement(.lockOwner, of: $0)] }
            try session.exchangeAll(locks)
            // A key that is no longer remembered must not keep a newer one of the same name away.
            try session.run(
                "DELETE FROM attempts WHERE owner = $1 AND time <= $2",
                [old, new].map { [.text($0.identifier), .integer(expiry)] })
            let states = try known([[old], [new]], expiry)
            guard let state = states[old] else { return }
            let change = try rethrowing(as: { Self.corrupt($0.message) }) { () throws(ForeignValue) in
                try decide(state, states[new] ?? OwnerState())
            }
            if let change { try rewrite(.text(old.identifier), state, .text(new.identifier), change) }
        }
    }

    /// Copies and deletes the rows, because Citus cannot change the owner of a row, by which it distributes the rows.
    private func rewrite(
        _ old: Parameter, _ state: OwnerState, _ new: Parameter, _ change: OwnerRewrite
    ) throws(PostgreSQLError) {
        let moved = try move("tasks", TaskItem.columns, old, new, change.offset)
        guard moved == state.tasks else {
            throw Self.corrupt("an owner has \(moved) tasks, and the owner's row counts \(state.tasks)")
        }
        try move("attempts", IdempotencyRecord.columns, old, new, change.offset, ifThere: "ON CONFLICT DO NOTHING")
        try session.run("DELETE FROM removed_tasks WHERE owner = $1", [[old]])
        // Clients of both owners read the whole list again, so the tasks need no change numbers.
        let (renewal, origin) = ("change = change + 1, origin = $2 WHERE owner = $1", ChangePoint.newOrigin)
        try session.run(
            "UPDATE owners SET next_id = $3, tasks = tasks + $4, \(renewal)",
            [[new, .integer(origin), .integer(change.next), .integer(state.tasks)]])
        // The row stays: it keeps the ids of the old owner from being given again.
        try session.run("UPDATE owners SET tasks = 0, \(renewal)", [[old, .integer(origin)]])
    }

    /// Moves rows; returns the number of the old owner's rows.
    @discardableResult
    private func move(
        _ table: String, _ columns: [TableColumn], _ old: Parameter, _ new: Parameter, _ offset: Int64,
        ifThere: String = ""
    ) throws(PostgreSQLError) -> Int {
        let values = columns.map { $0.name == "owner" ? "$2" : $0.name == "id" ? "id + $3" : $0.name }
        try session.run(
            """
            INSERT INTO \(table)(\(columns.names)) SELECT \(values.joined(separator: ", "))
            FROM \(table) WHERE owner = $1 \(ifThere)
            """, [[old, new, .integer(offset)]])
        return try rows("DELETE FROM \(table) WHERE owner = $1 RETURNING owner", [[old]]) { _, _ in }.count
    }
}
