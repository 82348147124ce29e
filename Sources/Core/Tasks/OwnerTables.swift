package import Basics
package import JSON

/// The tables of a database in a session of a command, which blocks the calling thread.
package protocol OwnerTables {
    associatedtype Failure: TransactionFailure

    /// Whether owners are distributed over servers, so that a transaction of many owners would need all of them.
    var isDistributed: Bool { get }

    /// Reads columns of the rows of a source, such as `FROM owners WHERE owner = $1`; `values` are its parameters.
    ///
    /// `read` makes a row of the values of the columns, whose numbers count from 0.
    func rows<Row>(
        _ columns: [TableColumn], _ source: String, _ values: [JSONValue],
        _ read: (_ value: (Int) -> JSONValue) throws(ForeignValue) -> Row
    ) throws(Failure) -> [Row]

    /// Runs a body all of whose reads see one state of the database.
    func snapshot<Outcome>(_ body: () throws(Failure) -> Outcome) throws(Failure) -> Outcome

    /// Runs a body in a transaction, which is on a disk when the call returns; again while servers are in its way.
    ///
    /// First the rows of these owners are locked, in the order of their names; one that is missing may be made.
    func transaction<Outcome>(
        locking owners: [Owner], _ body: () throws(Failure) -> Outcome
    ) throws(Failure) -> Outcome

    /// Does the work of ``run(_:)``; a command that was issued before the deletion of its owner has an error.
    func outcomes<Command: TaskCommand>(
        of commands: [Command]
    ) throws(Failure) -> [Result<Command.Outcome, StoreError>]

    static func operatorError(_ failure: Failure) -> OperatorError
}

extension OwnerTables {
    /// Runs commands of different owners, in the order of the owners, in a transaction.
    package func run<Command: TaskCommand>(_ commands: [Command]) throws(Failure) -> [Command.Outcome] {
        var outcomes: [Command.Outcome] = []
        for outcome in try self.outcomes(of: commands) {
            guard case .success(let outcome) = outcome else {
                throw Failure(ForeignValue(message: "an owner was deleted later than commands can be"))
            }
            outcomes.append(outcome)
        }
        return outcomes
    }

    /// Runs a body, whose failure becomes the error of a command.
    package func translating<Outcome>(_ body: () throws(Failure) -> Outcome) throws(OperatorError) -> Outcome {
        try rethrowing(as: Self.operatorError, body)
    }
}

/// The use that a command makes of the tables of a database.
package enum TableUse: Sendable {
    case read
    /// Changes tables that exist and are up to date.
    case change
    /// Adds to tables, which are made if they are missing, and brought up to date.
    case fill
}
