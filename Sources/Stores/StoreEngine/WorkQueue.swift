private import Platform
private import Synchronization

/// A queue of jobs for one thread: bounded, so that a slow database leads to refusals and not to growing memory.
package final class WorkQueue<Job: Sendable>: Sendable {
    /// The result of a take.
    package enum Taken {
        case jobs([Job])
        /// Nothing came until the deadline.
        case nothing
        /// The queue is closed, and all accepted jobs have been taken.
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

    /// Lets jobs that were taken wait again, before all others: called by the thread of the queue.
    package func putBack(_ jobs: [Job]) {
        guard !jobs.isEmpty else { return }
        state.withLock { $0.jobs.insert(contentsOf: jobs, at: 0) }
    }

    /// Takes all waiting jobs, up to a number; sleeps while there are none.
    package func take(atMost limit: Int) -> Taken {
        take { jobs in
            defer { jobs.removeFirst(min(limit, jobs.count)) }
            return Array(jobs.prefix(limit))
        }
    }

    /// Takes the jobs that the closure chooses, and removes, of those that wait; sleeps while it chooses none.
    package func take(
        untilMonotonicNanoseconds deadline: UInt64 = .max, choosing choose: (inout [Job]) -> [Job]
    ) -> Taken {
        while true {
            if let taken = takeNow(choose) { return taken }
            guard deadline != .max else {
                wakeup.wait()
                continue
            }
            if !wakeup.wait(untilMonotonicNanoseconds: deadline) { return takeNow(choose) ?? .nothing }
        }
    }

    private func takeNow(_ choose: (inout [Job]) -> [Job]) -> Taken? {
        state.withLock { state in
            let jobs = choose(&state.jobs)
            guard jobs.isEmpty else { return .jobs(jobs) }
            state.isIdle = true
            return state.isClosed && state.jobs.isEmpty ? .end : nil
        }
    }

    /// Removes and returns the waiting jobs of which this is true.
    package func remove(where isChosen: (Job) -> Bool) -> [Job] {
        state.withLock { state in
            guard state.jobs.contains(where: isChosen) else { return [] }
            defer { state.jobs.removeAll(where: isChosen) }
            return state.jobs.filter(isChosen)
        }
    }

    /// The least of a value of the waiting jobs.
    package func least<Value: Comparable & Sendable>(of value: (Job) -> Value) -> Value? {
        state.withLock { $0.jobs.lazy.map(value).min() }
    }

    /// Lets the thread choose again.
    package func wake() { wakeup.wake() }

    /// Refuses all later jobs; those accepted can still be taken.
    package func close() {
        state.withLock { $0.isClosed = true }
        wakeup.wake()
    }
}
