private import JSON
package import Tasks

/// A command as a database runs it, in a transaction that it may share with others.
package protocol StoreCommand: TaskCommand {
    /// How much of a transaction the command takes, in rows of tasks.
    var weight: Int { get }
    /// The memory that the command takes while it waits, besides that of every call, in bytes.
    var payload: Int { get }
    func effect(of outcome: Outcome) -> Effect
}

// Both are inlined into the stores, where the command is known, because each durable POST needs them.
extension StoreCommand {
    @inlinable package var weight: Int { 1 }
    @inlinable package var payload: Int { 0 }

    @inlinable package func effect(of outcome: Outcome) -> Effect { outcome.changesList ? .listChanged(owner) : .none }
}

extension AddTask {
    package var payload: Int { text.value.utf8.count + details.payload }
}

extension ChangeTask {
    package var payload: Int { change.payload }
}

extension ChangeTasks {
    package var weight: Int { changes.count }
    package var payload: Int { changes.reduce(0) { $0 + MemoryLayout<IdentifiedChange>.stride + $1.change.payload } }
}

extension RemoveTasks {
    /// How many tasks there are is not known before, so a removal counts as much as a transaction has room for.
    package var weight: Int { Job.mostWeight }
}

extension TaskChange {
    fileprivate var payload: Int { (text?.value.utf8.count ?? 0) + details.marked.payload }
}

extension TaskDetails {
    fileprivate var payload: Int {
        members.reduce(0) { $0 + MemoryLayout<Member>.stride + ($1.value.string?.utf8.count ?? 0) }
    }
}

/// What a job has done to the database, once its transaction is committed.
package enum Effect: Sendable {
    /// Nothing, which needs no room on the disk and so does not show that the database takes writes.
    case none
    /// The database has taken writes, but no list differs.
    case written
    /// The list of this owner's tasks differs.
    case listChanged(Owner)
}

/// Shows that the database takes writes, and leaves nothing.
package struct WriteProbe: StoreCommand {
    package enum Outcome: CommandOutcome {
        /// The probe has written what an addition writes.
        case written
        /// A transaction was made that writes nothing.
        case notWritten

        package var changesList: Bool { false }
    }

    /// No token can have this owner.
    package let owner = Owner("")

    package init() {}

    package func effect(of outcome: Outcome) -> Effect { outcome == .written ? .written : .none }
}
