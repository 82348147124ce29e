private import Synchronization

/// A thread that repeats one step, and sleeps between two steps until the time that the step named or until it is
/// woken.
package final class RepeatingThread: Sendable {
    private struct State {
        var thread: NamedThread?
        var isStopped = false
    }

    private let state = Mutex(State())
    private let wakeup = Wakeup()

    package init() {}

    /// Starts the thread.
    ///
    /// - Parameters:
    ///   - name: see ``NamedThread``.
    ///   - step: returns when to run again, in nanoseconds of the monotonic clock; nil sleeps until ``wake()``.
    /// - Throws: the system's refusal to start a thread.
    package func start(_ name: String, step: @escaping @Sendable () -> Int64?) throws(SystemError) {
        let thread = try NamedThread.start(name) { self.run(step) }
        state.withLock { $0.thread = thread }
    }

    /// Runs the step at once, or once more if it runs now.
    package func wake() {
        wakeup.wake()
    }

    /// Ends the thread after the step that runs, without waiting for the end.
    package func requestStop() {
        state.withLock { $0.isStopped = true }
        wakeup.wake()
    }

    /// Waits for the end of the thread; returns at once if it was never started.
    package func join() {
        state.withLock { $0.thread.take() }?.join()
    }

    private func run(_ step: () -> Int64?) {
        while !state.withLock({ $0.isStopped }) {
            wakeup.wait(untilMonotonicNanoseconds: UInt64(max(0, step() ?? .max)))
        }
    }
}
