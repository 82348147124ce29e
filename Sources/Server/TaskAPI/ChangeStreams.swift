import Basics
import HTTP
import Synchronization
package import Tasks

/// The open streams of changes, which tell people's other devices what was changed.
///
/// A stream that is told a newer change number of its person asks the store for the changes since its point, and sends
/// the page as an event. It asks again only when the event is with the client's system, so a slow reader keeps one page
/// in memory, and what was changed meanwhile comes at once. The point is the same as that of a question, so a client
/// loses nothing between a question and a stream, and may go on with either.
package final class ChangeStreams: Sendable {
    /// Why a stream ends, as its last event says.
    package enum Ending: String, Sendable {
        case expired = "token.expired"
        case stopping = "server.stopping"
        case deleted = "account.deleted"
        case forgotten = "changes.forgotten"
    }

    package struct Statistics: Sendable, Equatable {
        package var open = 0
        package var events = 0
    }

    private struct Table {
        var streams: [Owner: [ObjectIdentifier: ChangeStream]] = [:]
        var count = 0
        /// Whether the streams are being compared with the store.
        var isComparing = false
    }

    /// The most streams of one person.
    static let mostOfOwner = 8

    /// The most streams of all.
    private let limit: Int
    private let store: any TaskStore
    private let answers: AnswerMemory
    private let table = Mutex(Table())
    fileprivate let events = Atomic<Int>(0)

    /// Creates streams over a store, whose commits they are told.
    init(_ configuration: TaskAPIConfiguration) {
        limit = configuration.streams
        store = configuration.store
        answers = configuration.answers
        store.commits.add { [weak self] numbers in
            for (owner, number) in numbers { self?.tell(owner, number) }
        }
    }

    package var statistics: Statistics {
        Statistics(open: table.withLock { $0.count }, events: events.load(ordering: .relaxed))
    }
}

// Opening and ending.
extension ChangeStreams {
    /// Opens a stream that must end at this time, in seconds since 1970, and that has not asked yet.
    func open(_ query: ListChanges, until expiry: Int64) throws(APIFailure) -> (ChangeStream, ResponseStream) {
        let stream = ChangeStream(query, until: expiry, self)
        let refusal = table.withLock { table -> APIFailure? in
            if table.streams[query.owner]?.count ?? 0 >= Self.mostOfOwner {
                return .state(.tooManyStreams(limit: Self.mostOfOwner))
            }
            if table.count >= limit { return .state(.streamsFull) }
            table.streams[query.owner, default: [:]][ObjectIdentifier(stream)] = stream
            table.count += 1
            return nil
        }
        if let refusal { throw refusal }
        // A comment of the format: clients skip it.
        let content = ResponseStream(filler: Array(":\n\n".utf8)) {
            stream.drained()
        } onClosed: { [self] in
            close(stream)
        }
        stream.connect(content)
        return (stream, content)
    }

    private func close(_ stream: ChangeStream) {
        table.withLock { table in
            table.streams[stream.owner]?[ObjectIdentifier(stream)] = nil
            if table.streams[stream.owner]?.isEmpty == true { table.streams[stream.owner] = nil }
            table.count -= 1
        }
    }

    package func end(of owner: Owner, _ ending: Ending) {
        for stream in streams(of: owner) { stream.end(ending) }
    }

    package func endAll(_ ending: Ending) {
        for stream in all { stream.end(ending) }
    }

    private func streams(of owner: Owner) -> [ChangeStream] {
        table.withLock { $0.streams[owner].map { Array($0.values) } ?? [] }
    }

    private var all: [ChangeStream] { table.withLock { $0.streams.values.flatMap(\.values) } }
}

// What makes streams continue.
extension ChangeStreams {
    /// Continues the streams of a person who are behind this change number.
    func tell(_ owner: Owner, _ number: Int64) {
        for stream in streams(of: owner) { stream.note(number) }
    }

    /// Once a second: ends streams whose tokens have expired, asks again where the store failed, and, if other servers
    /// change the same tasks, asks the store for the change numbers of the people who have streams here.
    package func check(at seconds: Int64, comparing isShared: Bool) {
        let all = self.all
        for stream in all {
            if stream.expiry <= seconds { stream.end(.expired) } else { stream.retry() }
        }
        let owners = table.withLock { table -> [Owner] in
            guard isShared, !table.isComparing, !table.streams.isEmpty else { return [] }
            table.isComparing = true
            return Array(table.streams.keys)
        }
        if !owners.isEmpty { Task.detached { [self] in await compare(owners) } }
    }

    private func compare(_ owners: [Owner]) async {
        defer { table.withLock { $0.isComparing = false } }
        guard let numbers = try? await store.changeNumbers(of: owners) else { return }
        for (owner, number) in numbers {
            for stream in streams(of: owner) { stream.compare(number) }
        }
    }

    /// Reads the next page as an event; nil if the point is forgotten.
    fileprivate func event(_ query: ListChanges) async throws(StoreError) -> ChangesEvent? {
        guard case .page(let page) = try await store.read(query) else { return nil }
        let head = "event: changes\nid: \(page.next.token(for: query.owner))\ndata: "
        let size = head.utf8.count + page.mostBytes + 2
        let lease = try answers.leaseIfLong(size, for: query.owner)
        var bytes = Array(head.utf8)
        bytes.reserveCapacity(size)
        page.appendJSON(for: query.owner, to: &bytes)
        bytes += [0x0A, 0x0A]
        return ChangesEvent(bytes: bytes, lease: lease, next: page.next, more: page.more)
    }
}

/// A page of changes as it is sent.
struct ChangesEvent: Sendable {
    let bytes: [UInt8]
    let lease: AnswerLease?
    let next: ChangePoint
    let more: Bool
}

/// One stream: its point, and whether it asks, sends, or knows everything.
final class ChangeStream: Sendable {
    private enum Phase { case asking, sending, resting }

    private struct State {
        var point: ChangePoint?
        /// Whether more than the last event said was known already.
        var more = false
        /// The highest change number that was told.
        var newest: Int64 = 0
        var phase = Phase.asking
        /// Weak, because whoever drops the answer ends the stream.
        weak var content: ResponseStream?

        var isBehind: Bool { more || newest > point?.number ?? -1 }
    }

    let owner: Owner
    /// When the token expires, in seconds since 1970.
    let expiry: Int64
    private let limit: Int
    private let streams: ChangeStreams
    private let state: Mutex<State>

    init(_ query: ListChanges, until expiry: Int64, _ streams: ChangeStreams) {
        (owner, self.expiry, limit, self.streams) = (query.owner, expiry, query.limit, streams)
        state = Mutex(State(point: query.since))
    }

    fileprivate func connect(_ content: ResponseStream) { state.withLock { $0.content = content } }

    /// Reads the first event and sends it, also if nothing was changed: the client learns its point.
    func begin() async throws(StoreError) -> Bool {
        guard let event = try await streams.event(query(since: point)) else { return false }
        send(event)
        return true
    }

    fileprivate func note(_ number: Int64) {
        askIfNeeded { state in
            state.newest = max(state.newest, number)
            return state.isBehind
        }
    }

    /// Compares the point with the last change number of the database, which after a move may be a lower one.
    fileprivate func compare(_ number: Int64) {
        askIfNeeded { state in
            state.newest = max(state.newest, number)
            return state.isBehind || number != state.point?.number
        }
    }

    fileprivate func retry() { askIfNeeded { $0.isBehind } }

    /// The event is with the client's system, or there was nothing to send.
    fileprivate func drained() {
        state.withLock { $0.phase = .resting }
        askIfNeeded { $0.isBehind }
    }

    fileprivate func end(_ ending: ChangeStreams.Ending) {
        content?.end(Array("event: end\ndata: {\"reason\":\"\(ending.rawValue)\"}\n\n".utf8))
    }

    private var content: ResponseStream? { state.withLock { $0.content } }

    private var point: ChangePoint? { state.withLock { $0.point } }

    private func query(since point: ChangePoint?) -> ListChanges {
        ListChanges(owner: owner, since: point, limit: limit)
    }

    private func askIfNeeded(_ isNeeded: (inout sending State) -> Bool) {
        let asks = state.withLock { state in
            guard isNeeded(&state), state.phase == .resting else { return false }
            state.phase = .asking
            return true
        }
        // The task is detached, because a task of a connection would run on the connection's event loop.
        if asks { Task.detached { [self] in await ask() } }
    }

    private func ask() async {
        let known = point
        do throws(StoreError) {
            guard let event = try await streams.event(query(since: known)) else { return end(.forgotten) }
            if event.next != known { return send(event) }
            drained()
        } catch {
            // `retry()` asks again.
            state.withLock { $0.phase = .resting }
        }
    }

    private func send(_ event: ChangesEvent) {
        let content = state.withLock { state in
            (state.point, state.more, state.phase) = (event.next, event.more, .sending)
            return state.content
        }
        streams.events.add(1, ordering: .relaxed)
        content?.send(event.bytes, keeping: event.lease)
    }
}

extension TaskHandlers {
    /// `GET /api/tasks/changes` with `Accept: text/event-stream`: the same as a stream, from the point of
    /// `Last-Event-ID` or `since`.
    func streamChanges(_ request: APIRequest, _ owner: Owner) throws(APIFailure) -> HandlerResult {
        let query = try ListChanges(request.head, of: owner)
        let (stream, content) = try streams.open(query, until: request.expiry)
        return .pending { [self] () async throws(APIFailure) in
            let isKnown = try await storing(withRoomOf: owner) { () async throws(StoreError) in
                try await stream.begin()
            }
            guard isKnown else { throw .state(.changesForgotten) }
            var response = Response(200, headers: Self.streamHeaders)
            response.stream = content
            return response
        }
    }

    /// nginx would collect events until its buffer is full.
    private static let streamHeaders: FieldLines = [
        "Content-Type": "text/event-stream", "X-Accel-Buffering": "no", "Vary": "Accept",
    ]
}

extension ListChanges {
    /// The question of a stream, which goes on after the last event that the client has.
    fileprivate init(_ head: RequestHead, of owner: Owner) throws(APIFailure) {
        let asked = try ListChanges(head.target, of: owner)
        guard let identifier = head.headers["Last-Event-ID"] else {
            self = asked
            return
        }
        guard let point = ChangePoint(token: identifier, for: owner) else {
            throw .input(.field(name: "Last-Event-ID", expected: "the id of an event that was sent to the same person"))
        }
        self.init(owner: owner, since: point, limit: asked.limit)
    }
}
