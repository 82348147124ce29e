import Synchronization
package import Tasks

/// Caches rendered lists (everything of one owner), up to a number of bytes, so that most reads touch no disk.
///
/// A list is never older than another answer. Where only this store changes the database, the lists of a transaction's
/// owners are removed before its commit, and none is kept until the commit is over. A load is announced before it
/// reads, so a load that began before the commit keeps no list. Where other servers change the database, too, a list is
/// kept with the point of its owner's row that was read before the list, and answered only to callers who have read the
/// same point since.
package final class ListCache: Sendable {
    /// The number of a load that has begun and not finished.
    package typealias Load = UInt64

    private struct State {
        var entries: ListCacheEntries
        /// The unfinished load of an owner, unless a change has invalidated it.
        var loads: [Owner: Load] = [:]
        var lastLoad: Load = 0
        /// The owners whose tasks are being changed by a commit.
        var changing: Set<Owner> = []
        var hits = 0
        var misses = 0
    }

    /// The lock is held for some hundred nanoseconds.
    private let state: Mutex<State>

    /// A cache of this many bytes; 0 keeps nothing.
    ///
    /// Long lists that are being sent take their places in `answers`.
    package init(capacity: Int, answers: AnswerMemory = AnswerMemory()) {
        state = Mutex(State(entries: ListCacheEntries(capacity: capacity, answers: answers)))
    }

    /// An owner's list, at a point if it is kept with one, or an error if it cannot be sent now; nil if not cached.
    ///
    /// A long list shares the place of a copy that is being sent, or else takes `place`. A list is kept with the names
    /// that were asked for last.
    package func list(
        of owner: Owner, _ names: TaskNames = .both, at point: ListPoint? = nil, in place: AnswerPlace? = nil
    ) -> Result<TaskList, StoreError>? {
        state.withLock { state in
            let list = state.entries.list(of: owner, names, at: point, in: place)
            if case .success? = list { state.hits += 1 }
            return list
        }
    }

    /// Whether a list of an owner is cached, at whatever point.
    package func holdsList(of owner: Owner) -> Bool { state.withLock { $0.entries.holdsList(of: owner) } }

    /// Keeps a list with the point that was read before it.
    package func keep(_ list: TaskList, of owner: Owner, at point: ListPoint) {
        state.withLock { $0.entries.put(list, of: owner, at: point) }
    }

    /// Counts a list that was read from the database.
    package func countRead() { state.withLock { $0.misses += 1 } }

    /// Announces a load.
    package func beginLoad(of owner: Owner) -> Load {
        state.withLock { state in
            state.lastLoad += 1
            state.loads[owner] = state.lastLoad
            return state.lastLoad
        }
    }

    /// Ends a load, and keeps its list if nothing was changed since the load began.
    package func finish(_ load: Load, of owner: Owner, with list: TaskList?) {
        state.withLock { state in
            guard state.loads[owner] == load else { return }
            state.loads[owner] = nil
            if let list, !state.changing.contains(owner) { state.entries.put(list, of: owner) }
        }
    }

    /// Removes the lists of owners whose tasks a commit changes, and keeps none of them until ``endChange(by:)``.
    package func beginChange(by changes: [OwnerChange]) {
        state.withLock { state in
            for change in changes {
                state.changing.insert(change.owner)
                state.entries.remove(change.owner)
            }
        }
    }

    /// Invalidates the loads that began before the commit was over, and removes the lists of an older state.
    package func endChange(by changes: [OwnerChange]) {
        state.withLock { state in
            for change in changes {
                state.changing.remove(change.owner)
                state.loads[change.owner] = nil
                state.entries.remove(change.owner)
            }
        }
    }

    /// Removes all lists, and invalidates all loads.
    package func removeAll() {
        state.withLock { state in
            state.loads = [:]
            state.entries.removeAll()
        }
    }

    /// Adds the counts of the cache.
    func report(to statistics: inout StoreStatistics) {
        state.withLock { state in
            statistics.listHits = state.hits
            statistics.listMisses = state.misses
            statistics.listEvictions = state.entries.evictions
            statistics.lists = state.entries.count
            statistics.listBytes = state.entries.bytes
        }
    }
}

/// The state of an owner's row at which a list was read.
///
/// Change numbers alone do not identify a list: a database that was put back takes a number again.
package struct ListPoint: Sendable, Hashable {
    package let changes: ChangePoint
    /// The transaction that wrote the row; no other one of the database has this number.
    package let writer: Int64

    package init(_ changes: ChangePoint, writtenBy writer: Int64) { (self.changes, self.writer) = (changes, writer) }

    /// The point of an owner who has no row.
    package static let beginning = ListPoint(.beginning, writtenBy: 0)
}

/// Lists up to a number of bytes.
///
/// To make room, the hand goes around and removes the next list that was not read since the hand last passed (CLOCK).
struct ListCacheEntries {
    private struct Entry {
        let owner: Owner
        let point: ListPoint?
        /// The list without its place, because the cache counts the list by its cost.
        let list: TaskList
        /// Whether the list needs a place to be sent.
        let isLong: Bool
        /// The place that all answers share while a long list is being sent; the last answer gives it back.
        weak var place: AnswerPlace?
        var wasUsed = false

        /// The bytes of the list and its gzip form, of the owner's two copies, and an estimate for the collections.
        var cost: Int { list.mostBytes + 2 * owner.identifier.utf8.count + 256 }
    }

    private let capacity: Int
    private let answers: AnswerMemory
    private var positions: [Owner: Int] = [:]
    private var entries: [Entry] = []
    private var hand = 0
    private(set) var bytes = 0
    private(set) var evictions = 0

    init(capacity: Int, answers: AnswerMemory) {
        self.capacity = capacity
        self.answers = answers
    }

    var count: Int { entries.count }

    func holdsList(of owner: Owner) -> Bool { positions[owner] != nil }

    /// The list of an owner, or an error if there is no place for a long list now; nil if the list is not cached.
    mutating func list(
        of owner: Owner, _ names: TaskNames, at point: ListPoint?, in place: AnswerPlace?
    ) -> Result<TaskList, StoreError>? {
        guard let position = positions[owner], entries[position].point == point,
            entries[position].list.names == names
        else { return nil }
        entries[position].wasUsed = true
        let list = entries[position].list
        guard entries[position].isLong else { return .success(list) }
        if let shared = entries[position].place { return .success(list.at(shared)) }
        guard let place = place ?? answers.place(for: owner) else { return .failure(.noRoomForAnswer) }
        entries[position].place = place
        return .success(list.at(place))
    }

    /// Keeps a list, unless it alone is larger than the capacity.
    mutating func put(_ list: TaskList, of owner: Owner, at point: ListPoint? = nil) {
        remove(owner)
        let isLong = list.place != nil
        let entry = Entry(owner: owner, point: point, list: list.at(nil), isLong: isLong, place: list.place)
        guard entry.cost <= capacity else { return }
        while bytes + entry.cost > capacity { evict() }
        positions[owner] = entries.count
        entries.append(entry)
        bytes += entry.cost
    }

    mutating func remove(_ owner: Owner) {
        guard let position = positions.removeValue(forKey: owner) else { return }
        bytes -= entries[position].cost
        // The last entry moves into the gap, so that the array never has gaps.
        let last = entries.removeLast()
        guard position < entries.count else { return }
        entries[position] = last
        positions[last.owner] = position
    }

    mutating func removeAll() {
        positions = [:]
        entries = []
        (bytes, hand) = (0, 0)
    }

    private mutating func evict() {
        while true {
            if hand >= entries.count { hand = 0 }
            guard entries[hand].wasUsed else { break }
            entries[hand].wasUsed = false
            hand += 1
        }
        remove(entries[hand].owner)
        evictions += 1
    }
}
