import Basics
import Synchronization

/// A point in the changes of an owner's list: everything up to it is known to the client who has it.
///
/// Every task that is added, changed or removed takes the owner's next change number.
package struct ChangePoint: Sendable, Hashable {
    /// A random number of the owner's list: after a restored backup, a move or an import the list has another one.
    package let origin: Int64
    /// The last change number that is known.
    package let number: Int64
    /// The id up to which the tasks are known while the whole list is read page by page; 0 once all were read.
    package let listed: Int64

    package init(origin: Int64, number: Int64, listed: Int64 = 0) {
        (self.origin, self.number, self.listed) = (origin, number, listed)
    }

    /// The point of an owner who never had a task, and so knows nothing; no list has the origin 0.
    package static let beginning = ChangePoint(origin: 0, number: 0)

    /// An origin for a list that begins anew; lists from before there were origins have 1.
    package static var newOrigin: Int64 { .random(in: 2...Int64.greatestTaskNumber) }
}

extension ChangePoint {
    /// The point as clients keep it: its numbers and a digest of them with the owner, in base64url.
    ///
    /// The digest has no secret: who makes up a token for the own list is only shown the own list.
    package func token(for owner: Owner) -> String {
        let bytes = [origin, number, listed].flatMap(\.bytes)
        return Base64URL.encode(bytes + Self.digest(of: bytes, owner))
    }

    /// The point of a token; nil if the token is none, or was made for another owner.
    package init?(token: String, for owner: Owner) {
        guard let bytes = Base64URL.decode(token), bytes.count == 32,
            Self.digest(of: Array(bytes.prefix(24)), owner) == Array(bytes.suffix(8))
        else { return nil }
        let numbers = (0..<3).map { number in
            bytes[8 * number..<8 * number + 8].reduce(Int64(0)) { $0 << 8 | Int64($1) }
        }
        self.init(origin: numbers[0], number: numbers[1], listed: numbers[2])
    }

    private static func digest(of bytes: [UInt8], _ owner: Owner) -> [UInt8] {
        var digest = FNV1a(of: owner.identifier)
        digest.add(bytes)
        return Int64(bitPattern: digest.value).bytes
    }
}

extension Int64 {
    /// The bytes, the highest first.
    fileprivate var bytes: [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: self >> Int64(56 - 8 * $0)) } }
}

/// Reads what was changed and removed after a point; without one it begins with the whole list.
///
/// The whole list is read in the order of ids. Its pages keep the change number of the first one, so whatever happens
/// to the list meanwhile is read after its last page. List and numbers are from one state of the database.
package struct ListChanges: Sendable, Hashable {
    package let owner: Owner
    package let since: ChangePoint?
    /// At most this many tasks and removed ids, at least 1; a page may have fewer (``AnswerMemory/pageSize``).
    package let limit: Int
    /// The place of a long page, if the caller has waited for one.
    package var place: AnswerPlace?
    /// The names that the tasks have.
    package var names = TaskNames.both

    package init(owner: Owner, since: ChangePoint?, limit: Int) {
        self.owner = owner
        self.since = since == .beginning ? nil : since
        self.limit = limit
    }

    /// The greatest limit.
    package static let most = 1000

    /// The rows that a store reads until the page is full.
    package enum Rows: Sendable, Equatable {
        /// The tasks with greater ids, in the order of ids.
        case tasks(after: Int64)
        /// The tasks and removed tasks with greater change numbers, in the order of these.
        case changes(after: Int64)

        /// The id or the number after which the rows begin.
        var start: Int64 {
            switch self {
            case .tasks(let place), .changes(let place): place
            }
        }
    }

    package var rows: Rows {
        guard let since else { return .tasks(after: 0) }
        return since.listed > 0 ? .tasks(after: since.listed) : .changes(after: since.number)
    }
}

package enum ChangesOutcome: Sendable, Equatable {
    case page(ChangesPage)
    /// The point is of another list, ahead of this one, or before removals that are forgotten: begin without a point.
    case forgotten
}

/// Some changes of a list, in the order of their numbers.
package struct ChangesPage: Sendable, Equatable {
    /// The tasks that were added or changed, rendered as the API shows them, as they are now.
    package let tasks: TaskList
    /// The ids of tasks that were removed; the client may never have had them.
    package let removed: [Int64]
    package let next: ChangePoint
    /// Whether more changes are known already.
    package let more: Bool

    package init(tasks: TaskList, removed: [Int64], next: ChangePoint, more: Bool) {
        (self.tasks, self.removed, self.next, self.more) = (tasks, removed, next, more)
    }

    /// The most bytes that the page takes in JSON.
    package var mostBytes: Int { tasks.json.count + Self.removedBytes * removed.count + 128 }

    /// The most bytes of the id of a removed task, with its comma.
    fileprivate static let removedBytes = 20

    /// Appends the page as the API answers it, with the token of the next question.
    package func appendJSON(for owner: Owner, to bytes: inout [UInt8]) {
        bytes.append(contentsOf: #"{"changed":"#.utf8)
        bytes.append(contentsOf: tasks.json)
        bytes.append(contentsOf: #","removed":["#.utf8)
        bytes.append(contentsOf: removed.map(String.init).joined(separator: ",").utf8)
        bytes.append(contentsOf: #"],"next":"\#(next.token(for: owner))","more":\#(more)}"#.utf8)
    }
}

/// What an owner's row has of the changes.
package struct ChangeCounts: Sendable, Equatable {
    package let origin: Int64
    /// The last change number that was taken.
    package let last: Int64
    /// The removed tasks up to this number are forgotten.
    package let forgotten: Int64

    package init(origin: Int64, last: Int64, forgotten: Int64) {
        (self.origin, self.last) = (origin, last)
        self.forgotten = max(forgotten, last &- RemovedTask.changes)
    }
}

/// Makes the page of a ``ListChanges`` from the rows that a store reads.
package struct ChangesRendering: Sendable {
    private let query: ListChanges
    private let counts: ChangeCounts?
    private var page: TaskPage
    private var removed: [Int64] = []
    /// The id or the change number of the last row; after it a store goes on reading.
    package private(set) var last: Int64
    private var isCut = false
    private var failure: StoreError?

    /// Nil if the point of the query is ``ChangesOutcome/forgotten``; the counts are nil if the owner has no row.
    package init?(_ query: ListChanges, at counts: ChangeCounts?, in memory: AnswerMemory) {
        if let since = query.since {
            guard let counts, since.origin == counts.origin, since.number >= counts.forgotten,
                since.number <= counts.last
            else { return nil }
        }
        self.query = query
        self.counts = counts
        last = query.rows.start
        page = TaskPage(of: query.owner, query.names, atMost: query.limit, in: memory, at: query.place)
    }

    /// Whether there is nothing to read, because the client knows all.
    package var isUpToDate: Bool { counts.map { query.rows == .changes(after: $0.last) } ?? true }

    /// Appends the next task, at its id or its change number; returns false if the page is full.
    package mutating func append(_ item: TaskItem, at place: Int64) -> Bool {
        append(at: place) { page throws(StoreError) in try page.append(item) }
    }

    /// Appends the next removed task, at its change number; returns false if the page is full.
    package mutating func append(removed id: Int64, at number: Int64) -> Bool {
        guard append(at: number, { page throws(StoreError) in try page.count(other: ChangesPage.removedBytes) })
        else { return false }
        removed.append(id)
        return true
    }

    private mutating func append(
        at place: Int64, _ append: (inout TaskPage) throws(StoreError) -> Bool
    ) -> Bool {
        do throws(StoreError) {
            isCut = try !append(&page)
        } catch {
            failure = error
        }
        guard !isCut, failure == nil else { return false }
        last = place
        return true
    }

    /// The page, unless there was no place for it.
    package consuming func outcome() -> Result<ChangesOutcome, StoreError> {
        if let failure { return .failure(failure) }
        let (next, more) = end
        return .success(.page(ChangesPage(tasks: page.tasks(), removed: removed, next: next, more: more)))
    }

    private var end: (next: ChangePoint, more: Bool) {
        guard let counts else { return (.beginning, false) }
        let known = query.since?.number ?? counts.last
        switch query.rows {
        case .tasks where isCut: return (ChangePoint(origin: counts.origin, number: known, listed: last), true)
        case .tasks: return (ChangePoint(origin: counts.origin, number: known), known < counts.last)
        case .changes where isCut: return (ChangePoint(origin: counts.origin, number: last), true)
        case .changes: return (ChangePoint(origin: counts.origin, number: counts.last), false)
        }
    }
}

/// Those who want to know that a store has committed changes; each is told after the callers were answered.
package final class CommitListeners: Sendable {
    package typealias Listener = @Sendable ([Owner: Int64]) -> Void

    private let listeners = Mutex<[Listener]>([])

    package init() {}

    /// Calls a closure after each commit with the last change number of each owner whose tasks were changed.
    ///
    /// The closure runs on a thread of the store, so it must not block. Commits of one owner may come in another order.
    package func add(_ listener: @escaping Listener) { listeners.withLock { $0.append(listener) } }

    package func tell(of changes: [OwnerChange]) {
        let listeners = listeners.withLock { $0 }
        guard !listeners.isEmpty, !changes.isEmpty else { return }
        let numbers = Dictionary(changes.map { ($0.owner, $0.number) }, uniquingKeysWith: max)
        for listener in listeners { listener(numbers) }
    }
}
