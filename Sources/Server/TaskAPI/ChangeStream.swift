import Basics
import HTTP
import Synchronization
import Tasks

/// One stream: its point, and whether it asks, sends, or knows everything.
final class ChangeStream: Sendable {
    private enum Phase { case asking, sending, resting }

    private struct State {
        var point: ChangePoint?
        /// Whether more than the last event said was known already.
        var more = false
        /// The highest change number that was told since the last question, whose answer has what was told before.
        var newest: Int64 = 0
        var phase = Phase.asking
        /// The generation under which the token of the stream was last judged.
        var generation: UInt64?
        /// Weak, because whoever drops the answer ends the stream.
        weak var content: ResponseStream?

        var isBehind: Bool { more || newest > point?.number ?? -1 }
    }

    let owner: Owner
    /// The token of the request, which is judged again.
    let token: [UInt8]
    /// The token's `exp`, in seconds since 1970.
    private let expiry: Int64
    private let limit: Int
    private let names: TaskNames
    private let streams: ChangeStreams
    private let state: Mutex<State>

    init(_ query: ListChanges, by token: [UInt8], until expiry: Int64, _ streams: ChangeStreams) {
        (owner, limit, names) = (query.owner, query.limit, query.names)
        (self.token, self.expiry, self.streams) = (token, expiry, streams)
        state = Mutex(State(point: query.since))
    }

    func connect(_ content: ResponseStream) { state.withLock { $0.content = content } }

    /// Reads what the first event has.
    func read(at place: AnswerPlace?, _ answer: @escaping StoreAnswer<ChangesOutcome>) -> Cancellation {
        var query = query(since: point)
        query.place = place
        return streams.store.read(query, answer)
    }

    /// Sends the first event, also if nothing was changed: the client learns its point.
    ///
    /// Returns false if the point is forgotten.
    func begin(with outcome: ChangesOutcome) -> Bool {
        guard let event = ChangesEvent(outcome, to: owner) else { return false }
        send(event)
        return true
    }

    /// Returns whether the token must be judged, which is noted: what tokens are judged by is of another generation, or
    /// `exp` has come, after which only the verifier knows how long the token counts.
    func takeJudgement(under generation: UInt64, at seconds: Int64) -> Bool {
        state.withLock { state in
            defer { state.generation = generation }
            return state.generation != generation || expiry <= seconds
        }
    }

    func note(_ number: Int64) {
        askIfNeeded { state in
            state.newest = max(state.newest, number)
            return state.isBehind
        }
    }

    /// Compares the point with the last change number of the database, which is lower after a move or a restored
    /// backup: then the list is another one, as the answer will say.
    func compare(_ number: Int64) {
        askIfNeeded { state in
            state.newest = max(state.newest, number)
            return state.isBehind || number != state.point?.number
        }
    }

    func retry() { askIfNeeded { $0.isBehind } }

    /// The event is with the client's system, or there was nothing to send.
    func drained() {
        state.withLock { $0.phase = .resting }
        askIfNeeded { $0.isBehind }
    }

    func end(_ ending: ChangeStreams.Ending) {
        content?.end(Array("event: end\ndata: {\"reason\":\"\(ending.reason)\"}\n\n".utf8))
    }

    private var content: ResponseStream? { state.withLock { $0.content } }

    private var point: ChangePoint? { state.withLock { $0.point } }

    private func query(since point: ChangePoint?) -> ListChanges {
        ListChanges(owner: owner, since: point, limit: limit, names: names)
    }

    private func askIfNeeded(_ isNeeded: (inout sending State) -> Bool) {
        let asks = state.withLock { state in
            guard isNeeded(&state), state.phase == .resting else { return false }
            state.phase = .asking
            return true
        }
        // A thread of the store or of the server may have called, and must not make the event.
        if asks { Task.detached { [self] in await ask() } }
    }

    private func ask() async {
        let (known, told) = state.withLock { state in
            defer { state.newest = 0 }
            return (state.point, state.newest)
        }
        do throws(StoreError) {
            let outcome = try await outcome { streams.store.read(query(since: known), $0) }
            guard let event = ChangesEvent(outcome, to: owner) else { return end(.forgotten) }
            if event.next != known { return send(event) }
            drained()
        } catch {
            // `retry()` asks again.
            state.withLock { ($0.phase, $0.newest) = (.resting, max($0.newest, told)) }
        }
    }

    private func send(_ event: ChangesEvent) {
        let content = state.withLock { state in
            (state.point, state.more, state.phase) = (event.next, event.more, .sending)
            return state.content
        }
        streams.countEvent()
        content?.send(event.bytes, keeping: event.place)
    }
}
