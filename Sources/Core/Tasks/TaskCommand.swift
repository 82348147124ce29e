/// A change of one owner's tasks, as a value that a store can queue, run and answer.
package protocol TaskCommand: Sendable {
    /// The outcome that the caller gets once the change is durable.
    associatedtype Outcome: Sendable
    var owner: Owner { get }
    /// The time of issue of the caller's token, in milliseconds since 1970, UTC; `.max` for a caller without a token.
    var issued: Int64 { get set }
    /// The share of a transaction that the command takes, in rows of tasks.
    var weight: Int { get }
    /// The memory that the command takes while it waits, besides that of every call, in bytes.
    var payload: Int { get }
    /// The reads of the command, for a store that reads for several commands at once.
    var reads: CommandReads { get }
    /// Makes the change and decides its outcome; an error undoes the whole transaction.
    func run<Transaction: OwnerTransaction & ~Copyable>(
        on tasks: inout Transaction
    ) throws(Transaction.Failure) -> Outcome
    /// Makes the change, unless the caller's token is from before the deletion of the owner.
    func outcome<Transaction: OwnerTransaction & ~Copyable>(
        on tasks: inout Transaction
    ) throws(Transaction.Failure) -> Result<Outcome, StoreError>
}

extension TaskCommand {
    @inlinable package var weight: Int { 1 }
    @inlinable package var payload: Int { 0 }

    package func outcome<Transaction: OwnerTransaction & ~Copyable>(
        on tasks: inout Transaction
    ) throws(Transaction.Failure) -> Result<Outcome, StoreError> {
        if let row = try tasks.row(), row.wasDeleted(after: issued) { return .failure(.ownerDeleted) }
        return .success(try run(on: &tasks))
    }
}

package enum CommandReads: Sendable {
    /// The owner's row, which is made if there is none, and the record of an idempotency key.
    case row(key: String?)
    case tasks([Int64])
    /// The owner's row, which is made if there is none, tasks, and the records of idempotency keys.
    case rows(tasks: [Int64], keys: [String])
    case revision(Int64)
    case selection(RemoveTasks.Selection)
}
