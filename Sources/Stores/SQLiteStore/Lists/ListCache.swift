package import Tasks

/// Caches rendered lists (everything of one owner), up to a number of bytes, so that most reads touch no disk.
///
/// Why no reader can put an outdated list here: a load is announced *before* it reads, and a write removes its owner's
/// list *after* its commit. A list read before the commit belongs to a load that the removal has invalidated, so
/// ``finish(_:of:with:)`` gives it to those who waited (their calls began before the write was answered) and does not
/// keep it; a load announced after the removal reads what was committed.
package final class ListCache: Sendable {
    /// Receives the list of a load, which another caller may have begun.
    package typealias Waiter = @Sendable (Result<TaskList, StoreError>) -> Void

    /// A load that has begun and not finished.
    package struct Load: Sendable, Equatable {
        let number: UInt64
    }

    /// The state in which a caller finds the list that it asks for.
    package enum JoinResult {
        /// The list is cached; the waiter was not kept.
        case found(TaskList)
        /// The list is cached, but too long to be sent now; the waiter was not kept.
        case refused(StoreError)
        /// A load has begun, and will call the waiter.
        case joined
        /// The caller must load, and finish; then the waiter is called with the others.
        case mustLoad(Load)
    }

    private let shards: [ListCacheShard]

    /// A cache of this many bytes; 0 keeps nothing.
    ///
    /// The memory of lists that are being sent is leased from `answers`.
    package init(capacity: Int, shards count: Int = 16, answers: AnswerMemory = AnswerMemory()) {
        shards = (0..<count).map { _ in ListCacheShard(capacity: capacity / count, answers: answers) }
    }

    /// The list of an owner, if it is cached and can be sent.
    package func list(of owner: Owner) -> TaskList? {
        shard(of: owner).list(of: owner)
    }

    /// Waits for the list of an owner; the first to wait must load it.
    package func join(_ owner: Owner, _ waiter: @escaping Waiter) -> JoinResult {
        shard(of: owner).join(owner, waiter)
    }

    /// Ends a load: calls all who waited, and keeps the list if nothing was changed since the load began.
    package func finish(_ load: Load, of owner: Owner, with result: Result<TaskList, StoreError>) {
        for waiter in shard(of: owner).finish(load, of: owner, with: result) { waiter(result) }
    }

    /// Removes an owner's list, and invalidates a load of it.
    package func remove(_ owner: Owner) {
        shard(of: owner).remove(owner)
    }

    /// Removes all lists, and invalidates all loads.
    package func removeAll() {
        for shard in shards { shard.removeAll() }
    }

    /// Adds the counts of the cache.
    func report(to statistics: inout StoreStatistics) {
        for shard in shards { shard.report(to: &statistics) }
    }

    private func shard(of owner: Owner) -> ListCacheShard {
        shards[Int(truncatingIfNeeded: UInt(bitPattern: owner.hashValue) % UInt(shards.count))]
    }
}
