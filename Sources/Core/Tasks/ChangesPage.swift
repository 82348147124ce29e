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

/// The counts of changes in an owner's row.
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
    /// The id or the change number of the last row, after which a store goes on reading.
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
