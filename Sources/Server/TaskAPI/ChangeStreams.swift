import Basics
import HTTP
import Platform
import Synchronization
import Tasks
import Tokens

/// The open streams of changes, which tell people's other devices what was changed.
///
/// A stream that is told a newer change number of its person asks the store for the changes since its point, and sends
/// the page as an event. It asks again only when the event is with the client's system, so a slow reader keeps one page
/// in memory, and what was changed meanwhile comes at once. The point is the same as that of a question, so a client
/// loses nothing between a question and a stream, and may go on with either.
package final class ChangeStreams: Sendable {
    /// Why a stream ends, as its last event says: the code of the problem that a request gets then.
    package struct Ending: Sendable {
        let reason: String

        package static let stopping = Ending(reason: "server.stopping")
        static let deleted = Ending(reason: "account.deleted")
        static let forgotten = Ending(of: .state(.changesForgotten))

        init(reason: String) { self.reason = reason }
        init(of refusal: APIFailure) { self.init(reason: refusal.problem.code) }
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
    let store: any TaskStore
    private let time: any TimeSource
    private let authentication: BearerAuthentication
    private let table = Mutex(Table())
    private let events = Atomic<Int>(0)

    /// Creates streams over a store, whose commits they are told.
    init(_ configuration: TaskAPIConfiguration, _ authentication: BearerAuthentication) {
        self.authentication = authentication
        limit = configuration.streams
        (store, time) = (configuration.store, configuration.time)
        store.commits.add { [weak self] changes in
            for change in changes { self?.tell(change.owner, change.number) }
        }
    }

    package var statistics: Statistics {
        Statistics(open: table.withLock { $0.count }, events: events.load(ordering: .relaxed))
    }

    func countEvent() { events.add(1, ordering: .relaxed) }
}

// Opening and ending.
extension ChangeStreams {
    /// Opens a stream that has not asked yet, as long as the token of the request counts.
    func open(_ query: ListChanges, _ request: APIRequest) throws(APIFailure) -> (ChangeStream, ResponseStream) {
        let token = Array(try authentication.token(of: request.head))
        let stream = ChangeStream(query, by: token, until: request.expiry, self)
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

    func end(of owner: Owner, _ ending: Ending) {
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

// The events after which streams continue or end.
extension ChangeStreams {
    /// Continues the streams of a person who are behind this change number.
    func tell(_ owner: Owner, _ number: Int64) {
        for stream in streams(of: owner) { stream.note(number) }
    }

    /// Once a second: judges tokens again, asks again where the store failed, and, if other servers change the same
    /// tasks, asks the store for the change numbers of the people who have streams here.
    package func check(comparing isShared: Bool) {
        let all = self.all
        judge(all)
        for stream in all { stream.retry() }
        let owners = table.withLock { table -> [Owner] in
            guard isShared, !table.isComparing, !table.streams.isEmpty else { return [] }
            table.isComparing = true
            return Array(table.streams.keys)
        }
        if !owners.isEmpty { Task.detached { [self] in await compare(owners) } }
    }

    /// Ends the streams whose requests would be refused now (V-110).
    private func judge(_ streams: [ChangeStream]) {
        let (generation, seconds) = (authentication.generation, time.wallMilliseconds / 1000)
        var waiting: [(stream: ChangeStream, rest: Verification.Rest)] = []
        for stream in streams where stream.takeJudgement(under: generation, at: seconds) {
            do throws(APIFailure) {
                switch try authentication.verify(stream.token[...]) {
                case .verified(let principal): try authentication.check(.read, of: principal)
                case .waiting(let rest): waiting.append((stream, rest))
                }
            } catch {
                stream.end(Ending(of: error))
            }
        }
        guard !waiting.isEmpty else { return }
        Task.detached { [self, waiting] in
            // One after the other, so that requests find a place among those who wait for keys.
            for (stream, rest) in waiting { await judge(stream, after: rest) }
        }
    }

    private func judge(_ stream: ChangeStream, after rest: Verification.Rest) async {
        do throws(APIFailure) {
            let principal = try await authentication.principal(of: stream.token[...], after: rest)
            try authentication.check(.read, of: principal)
        } catch {
            stream.end(Ending(of: error))
        }
    }

    private func compare(_ owners: [Owner]) async {
        defer { table.withLock { $0.isComparing = false } }
        guard let numbers = try? await store.changeNumbers(of: owners) else { return }
        for (owner, number) in numbers {
            for stream in streams(of: owner) { stream.compare(number) }
        }
    }
}

/// A page of changes as it is sent.
struct ChangesEvent: Sendable {
    let bytes: [UInt8]
    let place: AnswerPlace?
    let next: ChangePoint
    let more: Bool

    /// The event of a page; nil if the point of its question is forgotten.
    init?(_ outcome: ChangesOutcome, to owner: Owner) {
        guard case .page(let page) = outcome else { return nil }
        let head = "event: changes\nid: \(page.next.token(for: owner))\ndata: "
        var bytes = Array(head.utf8)
        bytes.reserveCapacity(head.utf8.count + page.mostBytes + 2)
        page.appendJSON(for: owner, to: &bytes)
        bytes += [0x0A, 0x0A]
        (self.bytes, place, next, more) = (bytes, page.tasks.place, page.next, page.more)
    }
}
