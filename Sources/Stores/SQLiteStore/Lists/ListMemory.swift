package import Tasks

/// Remembers rendered lists (everything of one owner), up to a number of bytes, so that most reads touch no disk.
///
/// Why no reader can put an old list here: a load is announced *before* it reads, and a write drops its owner *after*
/// its commit. A list read from before the commit belongs to a load that the drop has struck out, so
/// ``finish(_:of:with:)`` hands it to those who waited (their calls began before the write was answered) and forgets
/// it; a load announced after the drop reads what was committed.
package final class ListMemory: Sendable {
    /// Receives a list that somebody else's load brings.
    package typealias Waiter = @Sendable (Result<TaskList, StoreError>) -> Void

    /// A load under way.
    package struct Load: Sendable, Equatable {
        let number: UInt64
    }

    /// What a caller without a list finds.
    package enum Entry {
        /// It came in the meantime; the waiter was not kept.
        case found(TaskList)
        /// It is here, but too long to be sent now; the waiter was not kept.
        case refused(StoreError)
        /// A load is under way and will call the waiter.
        case joined
        /// The caller must load, and finish; then the waiter is called with the others.
        case mustLoad(Load)
    }

    private let shards: [ListShard]

    /// A memory of this many bytes; 0 remembers nothing.
    ///
    /// What is sent of it takes its lease from `answers`.
    package init(capacity: Int, shards count: Int = 16, answers: AnswerMemory = AnswerMemory()) {
        shards = (0..<count).map { _ in ListShard(capacity: capacity / count, answers: answers) }
    }

    /// The list of an owner, if it is here and can be sent.
    package func list(of owner: Owner) -> TaskList? {
        shard(of: owner).list(of: owner)
    }

    /// Waits for the list of an owner; the first to wait must load it.
    package func join(_ owner: Owner, _ waiter: @escaping Waiter) -> Entry {
        shard(of: owner).join(owner, waiter)
    }

    /// Ends a load: calls all who waited, and keeps the list if nothing was changed since the load began.
    package func finish(_ load: Load, of owner: Owner, with result: Result<TaskList, StoreError>) {
        for waiter in shard(of: owner).finish(load, of: owner, with: result) { waiter(result) }
    }

    /// Forgets an owner's list, and strikes out a load of it.
    package func drop(_ owner: Owner) {
        shard(of: owner).drop(owner)
    }

    /// Forgets all, and strikes out all loads.
    package func dropAll() {
        for shard in shards { shard.dropAll() }
    }

    /// Adds its counts.
    func report(to statistics: inout StoreStatistics) {
        for shard in shards { shard.report(to: &statistics) }
    }

    private func shard(of owner: Owner) -> ListShard {
        shards[Int(truncatingIfNeeded: UInt(bitPattern: owner.hashValue) % UInt(shards.count))]
    }
}
