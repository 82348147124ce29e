import Synchronization

/// The listeners who learn of a store's commits, after the callers were answered.
package final class CommitListeners: Sendable {
    package typealias Listener = @Sendable ([OwnerChange]) -> Void

    private let listeners = Mutex<[Listener]>([])

    package init() {}

    /// Calls a closure after each commit with its changes, of which several may be of one owner.
    ///
    /// The closure runs on a thread of the store, so it must not block. Commits of one owner may come in another order.
    package func add(_ listener: @escaping Listener) { listeners.withLock { $0.append(listener) } }

    package func tell(of changes: [OwnerChange]) {
        for listener in listeners.withLock({ $0 }) { listener(changes) }
    }
}
