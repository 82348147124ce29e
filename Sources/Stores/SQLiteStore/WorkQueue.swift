import Platform
import Synchronization

/// A queue of jobs for one thread: bounded, so that a slow disk leads to refusals and not to growing memory.
final class WorkQueue<Job: Sendable>: Sendable {
    /// The result of a take.
    enum Taken {
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

    init(capacity: Int) {
        self.capacity = capacity
    }

    var count: Int { state.withLock { $0.jobs.count } }

    /// Adds a job; false if there is no room or the queue is closed.
    func submit(_ job: Job) -> Bool {
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
    func take(atMost limit: Int) -> Taken {
        take { jobs in
            defer { jobs.removeFirst(min(limit, jobs.count)) }
            return Array(jobs.prefix(limit))
        }
    }

    /// The jobs that are chosen, and taken out, of those that wait; sleeps while there are none.
    func take(untilMonotonicNanoseconds deadline: UInt64 = .max, choosing choose: (inout [Job]) -> [Job]) -> Taken {
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

    /// Takes out the waiting jobs of which this is true.
    func remove(where isChosen: (Job) -> Bool) -> [Job] {
        state.withLock { state in
            defer { state.jobs.removeAll(where: isChosen) }
            return state.jobs.filter(isChosen)
        }
    }

    /// Lets the thread choose again.
    func wake() { wakeup.wake() }

    /// Refuses all later jobs; those accepted can still be taken.
    func close() {
        state.withLock { $0.isClosed = true }
        wakeup.wake()
    }
}
