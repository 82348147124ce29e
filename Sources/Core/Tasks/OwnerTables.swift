package import Basics

/// The tables of a database in a session of a command, which blocks the calling thread.
///
/// Each transaction is on a disk when it returns, and is tried again while servers are in its way. `expiry` is the time
/// until which idempotency keys are expired, in milliseconds since 1970, UTC.
package protocol OwnerTables {
    func countTasks() throws(OperatorError) -> Int64

    /// The numbers of an owner's tasks and idempotency keys; nil if the database does not know the owner.
    func contents(of owner: Owner) throws(OperatorError) -> (tasks: Int64, keys: Int64)?

    /// Reads at one moment the tasks and keys of the first owners of a range, as many as `choose` takes.
    func stored(
        _ range: OwnerRange, expiry: Int64, _ choose: ([CountedOwner]) -> [CountedOwner]
    ) throws(OperatorError) -> StoredOwners

    /// Runs commands of different owners in one transaction, or each in its own where the database wants that.
    func run<Command: TaskCommand>(_ commands: [Command]) throws(OperatorError) -> [Command.Outcome]

    /// The next owners with tasks in byte order, and the numbers of their tasks; none at the end.
    func ownersWithTasks(after owner: Owner) throws(OperatorError) -> [(owner: Owner, tasks: Int64)]

    /// The states of the owners whom the database knows.
    func states(of owners: [Owner], expiry: Int64) throws(OperatorError) -> [Owner: OwnerState]

    /// Gives everything of an owner whom the database knows to another one, in one transaction, as `decide` says.
    ///
    /// Both are locked in the order of their names, and their expired keys are removed, before their states are read.
    func move(
        _ old: Owner, to new: Owner, expiry: Int64,
        _ decide: (_ old: OwnerState, _ new: OwnerState) throws(ForeignValue) -> OwnerRewrite?
    ) throws(OperatorError)
}

/// The use that a command makes of the tables of a database.
package enum TableUse: Sendable {
    case read
    /// Changes tables that exist and are up to date.
    case change
    /// Adds to tables, which are made if they are missing, and brought up to date.
    case fill
}

/// Owners in the order of the bytes of their names.
package enum OwnerRange: Sendable {
    /// The first 500 owners after this one.
    case after(Owner)
    case only(Owner)

    package static let most = 500

    /// The owner that is before the range, or its only one.
    package var start: Owner {
        switch self {
        case .after(let owner), .only(let owner): owner
        }
    }

    package var isOne: Bool { if case .only = self { true } else { false } }
}

package typealias CountedOwner = (owner: Owner, counts: OwnerCounts)

/// Owners who follow each other in a database, with their tasks and the idempotency keys that are remembered.
package struct StoredOwners: Sendable {
    package let owners: [CountedOwner]
    /// Ordered by owner and id; without owners, a task after the range's start that has no owner's row.
    package var tasks: [TaskItem] = []
    /// Ordered by owner and key.
    package var records: [IdempotencyRecord] = []

    package init(_ owners: [CountedOwner]) { self.owners = owners }
}

/// The state of an owner in a database.
package struct OwnerState: Sendable, Equatable {
    package var next: Int64 = 1
    package var tasks: Int64 = 0
    /// The least id of a task or an idempotency key; nil without any.
    package var first: Int64?

    /// The state of an owner whom the database does not know.
    package init() {}

    /// A state that was stored; the least ids of the tasks and of the keys are nil without any.
    package init(_ counts: OwnerCounts, firstTask: Int64?, firstKey: Int64?) throws(ForeignValue) {
        let ids = [firstTask, firstKey].compactMap(\.self)
        guard ids.allSatisfy(\.isTaskNumber) else { throw .number }
        (next, tasks, first) = (counts.next, counts.tasks, ids.min())
    }
}

/// The changes of a move: the ids are raised by the offset, and the new owner's next id is `next` afterwards.
package typealias OwnerRewrite = (offset: Int64, next: Int64)
