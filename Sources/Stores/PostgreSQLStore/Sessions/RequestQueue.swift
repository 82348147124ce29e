import Platform
import PostgreSQL
import Synchronization
import Tasks

/// What callers and the connecting thread leave for the driving thread: bounded, so that a slow database becomes
/// refusals and not memory.
final class RequestQueue: Sendable {
    /// What was left.
    struct Contents {
        var reads: [any QueuedRead] = []
        var writes: [any QueuedWrite] = []
        var connections: [ConnectionAttempt] = []
        var isClosed = false
    }

    /// What the thread can begin at once; the rest would wake it needlessly, and is seen when something that is under way ends.
    struct Readiness {
        var reads: Bool
        /// By lane, see ``RequestQueue/lane(of:)``.
        var writes: [Bool]
    }

    private struct State {
        var contents = Contents()
        /// Accepted and not answered.
        var waitingReads = 0
        var waitingWrites = 0
        /// What the thread wakes for, if it sleeps or is about to: only then it must be woken, which is costly.
        var readiness: Readiness?
    }

    private let state = Mutex(State())
    private let capacity: Int
    private let lanes: Int
    let poller: SocketPoller

    /// A queue for this many requests, with one lane for each session that writes.
    init(capacity: Int, lanes: Int, poller: SocketPoller) {
        self.capacity = capacity
        self.lanes = lanes
        self.poller = poller
    }

    /// Which of the writing sessions a write waits for: always the same for an owner, so that no two of them wait for each
    /// other at the owner's row.
    func lane(of write: any QueuedWrite) -> Int {
        Int(write.ownerHash.magnitude % UInt(lanes))
    }

    /// Leaves a read; false if too much waits, or the store is closed.
    func submit(_ read: any QueuedRead) -> Bool {
        accept({ $0.reads }) { state in
            state.waitingReads += 1
            state.contents.reads.append(read)
        }
    }

    /// Leaves a write; false if too much waits, or the store is closed.
    func submit(_ write: any QueuedWrite) -> Bool {
        let lane = lane(of: write)
        return accept({ $0.writes[lane] }) { state in
            state.waitingWrites += 1
            state.contents.writes.append(write)
        }
    }

    private func accept(_ canBegin: (Readiness) -> Bool, _ put: (inout State) -> Void) -> Bool {
        let (isAccepted, wakes) = state.withLock { state in
            guard !state.contents.isClosed, state.waitingReads + state.waitingWrites < capacity else {
                return (false, false)
            }
            put(&state)
            guard let readiness = state.readiness, canBegin(readiness) else { return (true, false) }
            state.readiness = nil
            return (true, true)
        }
        if wakes { poller.wake() }
        return isAccepted
    }

    /// Leaves a connection, or why there is none.
    func deliver(_ attempt: ConnectionAttempt) {
        state.withLock { state in
            state.contents.connections.append(attempt)
            state.readiness = nil
        }
        poller.wake()
    }

    /// Refuses what comes from now on.
    func close() {
        state.withLock { $0.contents.isClosed = true }
        poller.wake()
    }

    /// Takes everything.
    func take() -> Contents {
        state.withLock { state in
            let contents = state.contents
            state.contents = Contents()
            state.contents.isClosed = contents.isClosed
            return contents
        }
    }

    /// Whether the thread may sleep: nothing has come meanwhile, and what it can begin wakes it from now on.
    func isIdleNow(wakingFor readiness: Readiness) -> Bool {
        state.withLock { state in
            let contents = state.contents
            let isEmpty = contents.reads.isEmpty && contents.writes.isEmpty && contents.connections.isEmpty
            state.readiness = isEmpty ? readiness : nil
            return isEmpty
        }
    }

    /// Makes room for others.
    func release(reads: Int = 0, writes: Int = 0) {
        guard reads + writes > 0 else { return }
        state.withLock { state in
            state.waitingReads -= reads
            state.waitingWrites -= writes
        }
    }

    /// How many were accepted and are not answered.
    func report(to statistics: inout StoreStatistics) {
        state.withLock { state in
            statistics.waitingReads = state.waitingReads
            statistics.waitingWrites = state.waitingWrites
        }
    }
}

/// The end of an attempt to connect.
struct ConnectionAttempt: Sendable {
    struct Opened: Sendable {
        let connection: TransferBox<PipelineConnection>
        /// Statements are prepared in its session.
        let isPrepared: Bool
    }

    /// Of the session that asked.
    let session: Int
    let result: Result<Opened, PostgreSQLError>
}
