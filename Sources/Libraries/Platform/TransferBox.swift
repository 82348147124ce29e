private import Synchronization

/// Carries a value that cannot be copied to the thread that will own it, which is the first that asks.
package final class TransferBox<Value: ~Copyable>: Sendable {
    private let value: Mutex<Value?>

    package init(_ value: consuming sending Value) {
        self.value = Mutex(value)
    }

    /// Returns the value; nil if it was taken before.
    package func take() -> sending Value? {
        value.withLock { $0.take() }
    }
}
