private import Synchronization

/// A suspended caller, who is resumed once: by somebody who has what the caller waits for, or when the time is over.
package final class TimedWait<Value: Sendable>: Sendable {
    private struct State {
        var continuation: CheckedContinuation<Value?, Never>?
        var timer: Task<Void, Never>?
    }

    private let state = Mutex(State())

    package init() {}

    /// Suspends the caller for this long at most, and returns what it is resumed with: nil if the time is over.
    ///
    /// The closure hands the wait to those who resume it. It may resume it at once.
    package func suspend(for time: Duration, _ start: () -> Void) async -> Value? {
        await withCheckedContinuation { continuation in
            state.withLock { state in
                state.continuation = continuation
                state.timer = Task.detached { [self] in
                    try? await Task.sleep(for: time)
                    resume(nil)
                }
            }
            start()
        }
    }

    /// Resumes the caller, unless that was done before.
    package func resume(_ result: Value?) {
        let state = state.withLock { state in
            defer { state = State() }
            return state
        }
        state.timer?.cancel()
        state.continuation?.resume(returning: result)
    }
}
