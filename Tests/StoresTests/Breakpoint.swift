import Platform
import Support
import Synchronization
import Testing

/// Stops a thread of a store where a test needs it, until the test resumes it.
final class Breakpoint: Sendable {
    private let isResumed = Atomic(false)
    private let isReached = Atomic(false)
    private let resumed = Wakeup()

    /// Called by the thread: waits, unless the breakpoint was resumed before.
    func stop() {
        isReached.store(true, ordering: .releasing)
        guard !isResumed.load(ordering: .acquiring) else { return }
        // A test that throws never resumes it, and then closes the store, which waits for this thread.
        let limit = SystemTime().monotonicNanoseconds + UInt64(patience.components.seconds) * 1_000_000_000
        if !resumed.wait(untilMonotonicNanoseconds: limit) { Issue.record("the breakpoint was not resumed") }
    }

    /// Waits until a thread has stopped; suspends, as the pool may have no other thread to run what brings it there.
    func waitUntilReached() async {
        await eventually("a thread reaches the breakpoint") { isReached.load(ordering: .acquiring) }
    }

    /// Lets the thread continue, and all that come later pass.
    func resume() {
        isResumed.store(true, ordering: .releasing)
        resumed.wake()
    }
}
