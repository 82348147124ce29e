import Platform
import Synchronization

/// A thread that belongs to one test, so that its measurements do not wait for the threads that all tests share.
///
/// The thread is for `withTaskExecutorPreference`, and ends with ``end()``.
package final class OwnThread: TaskExecutor {
    private struct Jobs {
        var waiting: [UnownedJob] = []
        var hasEnded = false
    }

    private let jobs = Mutex(Jobs())
    private let wakeup = Wakeup()

    package init() throws(SystemError) {
        _ = try NamedThread.start("own-thread") { self.run() }
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.waiting.append(job) }
        wakeup.wake()
    }

    /// Lets the thread end when nothing waits for it.
    package func end() {
        jobs.withLock { $0.hasEnded = true }
        wakeup.wake()
    }

    private func run() {
        while true {
            let (waiting, hasEnded) = jobs.withLock { jobs in
                defer { jobs.waiting = [] }
                return (jobs.waiting, jobs.hasEnded)
            }
            for job in waiting { job.runSynchronously(on: asUnownedTaskExecutor()) }
            guard waiting.isEmpty else { continue }
            if hasEnded { return }
            wakeup.wait()
        }
    }
}
