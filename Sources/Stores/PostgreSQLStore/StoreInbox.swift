import Platform
import PostgreSQL
import Synchronization
import Tasks

/// What callers and the connecting thread leave for the driving thread: bounded, so that a slow database becomes
/// refusals and not memory.
final class StoreInbox: Sendable {
    /// What lay there.
    struct Contents {
        var reads: [ReadRequest] = []
        var writes: [WriteRequest] = []
        var arrivals: [ConnectionArrival] = []
        var isClosed = false
    }

    private struct State {
        var contents = Contents()
        /// Accepted and not answered.
        var waiting = 0
        /// What the thread wakes for, if it sleeps or is about to: only then it needs the costly bell.
        var interest: Interest?
    }

    /// What the thread can begin at once; the rest would only wake it, and is seen when something that is under way ends.
    struct Interest {
        var reads: Bool
        /// By place, see ``StoreInbox/place(of:)``.
        var writes: [Bool]
    }

    private let state = Mutex(State())
    private let capacity: Int
    private let places: Int
    let poller: SocketPoller

    /// An inbox for so many requests, with writes going to so many places.
    init(capacity: Int, places: Int, poller: SocketPoller) {
        self.capacity = capacity
        self.places = places
        self.poller = poller
    }

    /// Where a write waits: an owner always has the same place, so that its row is not fought for.
    func place(of write: WriteRequest) -> Int {
        Int(write.owner.hashValue.magnitude % UInt(places))
    }

    /// Leaves a read; false if too much waits, or the store is closed.
    func submit(_ read: ReadRequest) -> Bool {
        leave(counting: true, isWanted: \.reads) { $0.reads.append(read) }
    }

    /// Leaves a write; false if too much waits, or the store is closed.
    func submit(_ write: WriteRequest) -> Bool {
        let place = place(of: write)
        return leave(counting: true, isWanted: { $0.writes[place] }) { $0.writes.append(write) }
    }

    /// Leaves a connection, or why there is none.
    func deliver(_ arrival: ConnectionArrival) {
        _ = leave(counting: false, isWanted: { _ in true }) { $0.arrivals.append(arrival) }
    }

    /// Refuses whatever comes from now on.
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

    /// Whether the thread may sleep: nothing has come meanwhile, and what it can begin rings from now on.
    func isIdleNow(wakingFor interest: Interest) -> Bool {
        state.withLock { state in
            let contents = state.contents
            let isEmpty = contents.reads.isEmpty && contents.writes.isEmpty && contents.arrivals.isEmpty
            state.interest = isEmpty ? interest : nil
            return isEmpty
        }
    }

    /// Makes room for others.
    func answered(_ count: Int) {
        state.withLock { $0.waiting -= count }
    }

    private func leave(
        counting: Bool, isWanted: (Interest) -> Bool, _ put: (inout Contents) -> Void
    ) -> Bool {
        let (accepted, rings) = state.withLock { state in
            if counting {
                guard !state.contents.isClosed, state.waiting < capacity else { return (false, false) }
                state.waiting += 1
            }
            put(&state.contents)
            guard let interest = state.interest, isWanted(interest) else { return (true, false) }
            state.interest = nil
            return (true, true)
        }
        if rings { poller.wake() }
        return accepted
    }
}

/// The end of an attempt to connect.
struct ConnectionArrival: Sendable {
    /// Which of the links asked.
    let link: Int
    let result: ConnectionBox
}

/// Carries a connection from the thread that made it to the one that uses it.
final class ConnectionBox: Sendable {
    private let connection: Mutex<PipelineConnection?>
    /// Why there is none.
    let failure: PostgreSQLError?
    /// Statements are prepared in its session.
    let isPrepared: Bool

    init(_ connection: sending PipelineConnection, isPrepared: Bool) {
        self.connection = Mutex(connection)
        self.isPrepared = isPrepared
        failure = nil
    }

    init(_ failure: PostgreSQLError) {
        connection = Mutex(nil)
        self.failure = failure
        isPrepared = false
    }

    func take() -> PipelineConnection? {
        connection.withLock { $0.take() }
    }
}
