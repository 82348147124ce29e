import Synchronization

/// The listeners who learn of a store's commits, after the callers were answered.
package final class CommitListeners: Sendable {
    package typealias Listener = @Sendable ([Owner: Int64]) -> Void

    private let listeners = Mutex<[Listener]>([])

    package init() {}

    /// Calls a closure after each commit with the last change number of each owner whose tasks were changed.
    ///
    /// The closure runs on a thread of the store, so it must not block. Commits of one owner may come in another order.
    package func add(_ listener: @escaping Listener) { listeners.withLock { $0.append(listener) } }

    package func tell(of changes: [OwnerChange]) {
        let listeners = listeners.withLock { $0 }
        guard !listeners.isEmpty, !changes.isEmpty else { return }
        let numbers = Dictionary(changes.map { ($0.owner, $0.number) }, uniquingKeysWith: max)
        for listener in listeners { listener(numbers) }
    }
}
