import Tasks

/// Chooses which of the waiting writes share the next transaction.
///
/// Short writes share it; a long one, of many rows, has one of its own. While there are short ones, they have four times as much
/// time as the long ones. Owners with long writes take turns, and each owner's writes keep their order.
struct WriteOrder {
    /// What the log has room for.
    enum Room {
        case nothing
        case shortWrites
        case everything
    }

    /// The most rows of a short write.
    static let shortRows = 16
    /// How much time the short writes have after a long one, in times of that.
    private static let share: UInt64 = 4

    /// When the last long one began, until its end is noted; monotonic nanoseconds, like all times here.
    private var start: UInt64?
    /// When the next long one may begin, if there are short ones.
    private(set) var nextLong: UInt64 = 0
    /// Whether there were short ones after the last long one.
    private var isContended = false
    /// The owners of the long writes of this round.
    private var served: Set<Owner> = []

    /// Takes out the next ones, which change no more rows than a limit, or a single long one.
    mutating func next(
        of waiting: inout [any QueuedWrite], atMost rows: Int, _ room: Room, at time: UInt64
    ) -> [any QueuedWrite] {
        guard room != .nothing, !waiting.isEmpty else { return [] }
        let isLongAllowed = room == .everything && (!isContended || time >= nextLong)
        if isContended, isLongAllowed, let long = takeLong(of: &waiting, at: time) { return [long] }
        let short = takeShort(of: &waiting, atMost: rows)
        guard short.isEmpty else {
            isContended = true
            return short
        }
        guard isLongAllowed, let long = takeLong(of: &waiting, at: time) else { return [] }
        return [long]
    }

    /// Notes that what was taken last is done.
    mutating func noteEnd(at time: UInt64) {
        guard let start else { return }
        nextLong = time + (time - start) * Self.share
        self.start = nil
    }

    private mutating func takeLong(of waiting: inout [any QueuedWrite], at time: UInt64) -> (any QueuedWrite)? {
        guard waiting.contains(where: \.isLong) else {
            served = []
            return nil
        }
        var owners: Set<Owner> = []
        let first = waiting.indices.filter { owners.insert(waiting[$0].owner).inserted && waiting[$0].isLong }
        if first.allSatisfy({ served.contains(waiting[$0].owner) }) { served = [] }
        guard let index = first.first(where: { !served.contains(waiting[$0].owner) }) else { return nil }
        served.insert(waiting[index].owner)
        (start, isContended) = (time, false)
        return waiting.remove(at: index)
    }

    private func takeShort(of waiting: inout [any QueuedWrite], atMost limit: Int) -> [any QueuedWrite] {
        var (taken, left): ([any QueuedWrite], [any QueuedWrite]) = ([], [])
        var rows = 0
        var delayed: Set<Owner> = []
        for (index, write) in waiting.enumerated() {
            guard rows < limit else {
                left += waiting[index...]
                break
            }
            if !write.isLong, rows + write.rows <= limit, !delayed.contains(write.owner) {
                taken.append(write)
                rows += write.rows
            } else {
                left.append(write)
                delayed.insert(write.owner)
            }
        }
        waiting = left
        return taken
    }
}

extension QueuedWrite {
    var isLong: Bool { rows > WriteOrder.shortRows }
}
