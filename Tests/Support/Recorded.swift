import Synchronization

/// What was reported to a test, in its order.
package final class Recorded<Value: Sendable>: Sendable {
    private let values = Mutex<[Value]>([])

    package init() {}

    package func append(_ value: Value) { values.withLock { $0.append(value) } }

    package var all: [Value] { values.withLock { $0 } }
}
