private import Glibc
private import Synchronization

/// A thread that repeats one step, and sleeps in between until the time that the step named or until it is woken.
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
    /// The step returns when to run again, in nanoseconds of the monotonic clock; after nil it waits for ``wake()``.
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

/// Lets one thread sleep until another wakes it; one call that comes before the sleep is remembered.
///
/// The standard library has no condition variable. Deadlines are times of the monotonic clock, as in
/// ``TimeSource/monotonicNanoseconds``.
@safe
package final class Wakeup: @unchecked Sendable {
    // The conformance is unchecked, because the compiler does not know that `isAwake` is used only with the mutex held
    // and that the pointers never change. Both are allocated, because a mutex of the system must not move.
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var isAwake = false
    private let clock: any TimeSource
    /// The longest sleep without a look at the clock, because no condition variable waits by one that counts a
    /// machine's sleep.
    private let longestSleep: UInt64

    package init(clock: any TimeSource = SystemTime(), longestSleep: UInt64 = 10_000_000_000) {
        self.clock = clock
        self.longestSleep = longestSleep
        unsafe mutex.initialize(to: pthread_mutex_t())
        unsafe condition.initialize(to: pthread_cond_t())
        var attributes = pthread_condattr_t()
        _ = unsafe pthread_condattr_init(&attributes)
        _ = unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        _ = unsafe pthread_mutex_init(mutex, nil)
        _ = unsafe pthread_cond_init(condition, &attributes)
        _ = unsafe pthread_condattr_destroy(&attributes)
    }

    deinit {
        _ = unsafe pthread_cond_destroy(condition)
        _ = unsafe pthread_mutex_destroy(mutex)
        unsafe condition.deallocate()
        unsafe mutex.deallocate()
    }

    /// Wakes the sleeper, or lets the next sleep end at once.
    package func wake() {
        _ = unsafe pthread_mutex_lock(mutex)
        isAwake = true
        _ = unsafe pthread_cond_signal(condition)
        _ = unsafe pthread_mutex_unlock(mutex)
    }

    /// Sleeps until woken or until this time of the monotonic clock; returns whether it was woken.
    @discardableResult
    package func wait(untilMonotonicNanoseconds deadline: UInt64 = .max) -> Bool {
        _ = unsafe pthread_mutex_lock(mutex)
        while !isAwake {
            let now = clock.monotonicNanoseconds
            guard now < deadline else { break }
            let end = SystemTime.awakeNanoseconds + min(deadline - now, longestSleep)
            var time = timespec(tv_sec: Int(end / 1_000_000_000), tv_nsec: Int(end % 1_000_000_000))
            _ = unsafe pthread_cond_timedwait(condition, mutex, &time)
        }
        let woken = isAwake
        isAwake = false
        _ = unsafe pthread_mutex_unlock(mutex)
        return woken
    }
}
