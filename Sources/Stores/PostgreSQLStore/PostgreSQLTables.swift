package import Basics
package import JSON
package import PostgreSQL
import StoreEngine
package import Tasks

/// The tables of a PostgreSQL database, for a command that may run beside servers.
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
            if use == .read { preparation.stop() }
            return try PostgreSQLSession(
                number: 1,
                PostgreSQLSession.Configuration(
                    target: database.target, options: options, isDistributed: isDistributed, preparation: preparation,
                    isHealthy: { true }), on: connection)
        }
    }

    package var isDistributed: Bool { session.isDistributed }

    package func rows<Row>(
        _ columns: [TableColumn], _ source: String, _ values: [JSONValue],
        _ read: ((Int) -> JSONValue) throws(ForeignValue) -> Row
    ) throws(PostgreSQLError) -> [Row] {
        var found: [Row] = []
        var foreign: ForeignValue?
        try session.run("SELECT \(columns.names) \(source)", values.map(Parameter.init)) { rows in
            for row in 0..<rows.count where foreign == nil {
                do throws(ForeignValue) {
                    found.append(try read { rows.value(of: columns[$0], row, $0) })
                } catch {
                    foreign = error
                }
            }
        }
        if let foreign { throw PostgreSQLError(foreign) }
        return found
    }

    package func snapshot<Outcome>(_ body: () throws(PostgreSQLError) -> Outcome) throws(PostgreSQLError) -> Outcome {
        do throws(PostgreSQLError) {
            try session.exchangeAll([BoundStatement(.beginReads)])
            let outcome = try body()
            try session.exchangeAll([BoundStatement(.commit)])
            return outcome
        } catch {
            rollBack()
            throw error
        }
    }

    private func rollBack() { _ = try? session.exchangeAll([BoundStatement(.rollBack)]) }

    package func transaction<Outcome>(
        locking owners: [Owner], _ body: () throws(PostgreSQLError) -> Outcome
    ) throws(PostgreSQLError) -> Outcome {
        let locks = owners.sorted().flatMap { owner in
            [
                BoundStatement(.makeOwner, of: owner, [.integer(ChangePoint.newOrigin)]),
                BoundStatement(.lockOwner, of: owner),
            ]
        }
        return try PipelineConnection.retrying(
            atMost: 50, pause: { UInt64($0) * 2_000_000 }, undo: rollBack
        ) { () throws(PostgreSQLError) in
            // Each statement has a minute, and so has each exchange.
            let settings = BoundStatement(.transactionSettings, [.text("60000")])
            try session.exchangeAll([BoundStatement(.begin), settings] + locks)
            let outcome = try body()
            var isCommitted = false
            try session.exchangeAll([BoundStatement(.commit)]) { isCommitted = $1.command == "COMMIT" }
            guard isCommitted else { throw PostgreSQLError(sqlState: nil, message: "a commit was not confirmed") }
            return outcome
        }
    }

    package func outcomes<Command: TaskCommand>(
        of commands: [Command]
    ) throws(PostgreSQLError) -> [Result<Command.Outcome, StoreError>] {
        // The commands lock owners in the same order as servers do.
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
        var outcomes: [Result<Command.Outcome, StoreError>] = []
        for place in owners.indices { outcomes.append(try commands[place].outcome(on: &owners[place])) }
        let writes = owners.indices.flatMap { owners[$0].takeWrites() }
        // Each exchange has a minute, however long a list is.
        let most = 2000
        for start in stride(from: 0, to: writes.count, by: most) {
            try session.exchangeAll(Array(writes[start...].prefix(most)))
        }
        return outcomes
    }

    package static func operatorError(_ failure: PostgreSQLError) -> OperatorError { OperatorError(failure) }
}

extension Parameter {
    /// The parameter of a query: a number or a text.
    fileprivate init(_ value: JSONValue) { self = value.integer.map { .integer($0) } ?? .text(value.string) }
}
