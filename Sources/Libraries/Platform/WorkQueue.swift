import Synchronization

/// A queue of jobs for one thread: bounded, so that a slow disk leads to refusals and not to growing memory.
package final class WorkQueue<Job: Sendable>: Sendable {
    package enum Taken {
        case jobs([Job])
        /// Nothing came until the deadline.
        case nothing
        /// Closed, and all that was accepted has been taken.
        case end
    }

    private struct State {
        var jobs: [Job] = []
        var isClosed = false
        /// The thread sleeps or is about to: only then is the costly wake needed.
        var isIdle = false
    }

    private let state = Mutex(State())
    private let wakeup = Wakeup()
    private let capacity: Int

    package init(capacity: Int) {
        self.capacity = capacity
    }

    package var count: Int { state.withLock { $0.jobs.count } }

    /// Adds a job; false if there is no room or the queue is closed.
    package func submit(_ job: Job) -> Bool {
        let (accepted, wakes) = state.withLock { state in
            guard !state.isClosed, state.jobs.count < capacity else { return (false, false) }
            state.jobs.append(job)
            defer { state.isIdle = false }
            return (true, state.isIdle)
        }
        if wakes { wakeup.wake() }
        return accepted
    }

    /// All waiting jobs, up to a number; sleeps while there are none.
    package func take(atMost limit: Int, untilMonotonicNanoseconds deadline: UInt64 = .max) -> Taken {
        while true {
            if let taken = takeNow(atMost: limit) { return taken }
            guard deadline != .max else {
                wakeup.wait()
                continue
            }
            if !wakeup.wait(untilMonotonicNanoseconds: deadline) { return takeNow(atMost: limit) ?? .nothing }
        }
    }

    private func takeNow(atMost limit: Int) -> Taken? {
        state.withLock { state in
            guard !state.jobs.isEmpty else {
                state.isIdle = true
                return state.isClosed ? .end : nil
            }
            guard state.jobs.count > limit else {
                defer { state.jobs = [] }
                return .jobs(state.jobs)
            }
            defer { state.jobs.removeFirst(limit) }
            return .jobs(Array(state.jobs.prefix(limit)))
        }
    }

    /// Refuses all later jobs; those accepted can still be taken.
    package func close() {
        state.withLock { $0.isClosed = true }
        wakeup.wake()
    }
}
