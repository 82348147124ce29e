import StoreEngine
import Tasks

/// Chooses which of the waiting writes share the next transaction.
///
/// Short writes share a transaction, and have four times as much time as the long ones, of many rows, each of which has one
/// of its own. Owners with long writes take turns, and each owner's writes keep their order.
struct WriteOrder {
    /// What the log has room for.
    enum Room {
        case nothing
        case shortWrites
        case everything
    }

    /// The most weight of a short write.
    static let mostOfShort = 16
    /// The short writes have this many times as long as a long write took.
    private static let share: UInt64 = 4

    /// When the last long write began, until its end is noted; monotonic nanoseconds, like all times here.
    private var start: UInt64?
    /// When the next long write may begin, if short ones wait.
    private(set) var nextLong: UInt64 = 0
    /// Whether short writes came after the last long one.
    private var isContended = false
    /// The owners of the long writes of this round.
    private var served: Set<Owner> = []

    /// Takes the writes of the next transaction, which have no more weight than a limit, or a single long write.
    mutating func next(of waiting: inout [Job], atMost weight: Int, _ room: Room, at time: UInt64) -> [Job] {
        guard room != .nothing, let first = waiting.first else { return [] }
        // The engine puts the writes of a failed transaction before all others. So if any of them still wait, one of them is
        // the first.
        if first.retry.scope == .alone { return [waiting.removeFirst()] }
        let isLongAllowed = room == .everything && (!isContended || time >= nextLong)
        if isContended, isLongAllowed, let long = takeLong(of: &waiting, at: time) { return [long] }
        let short = takeShort(of: &waiting, atMost: weight)
        guard short.isEmpty else {
            isContended = true
            return short
        }
        guard isLongAllowed, let long = takeLong(of: &waiting, at: time) else { return [] }
        return [long]
    }

    /// Notes that the transaction of the writes that were taken last has ended.
    mutating func noteEnd(at time: UInt64) {
        guard let start else { return }
        nextLong = time + (time - start) * Self.share
        self.start = nil
    }

    private mutating func takeLong(of waiting: inout [Job], at time: UInt64) -> Job? {
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

    private func takeShort(of waiting: inout [Job], atMost limit: Int) -> [Job] {
        var (taken, left): ([Job], [Job]) = ([], [])
        var sum = 0
        var delayed: Set<Owner> = []
        for (index, write) in waiting.enumerated() {
            guard sum < limit else {
                left += waiting[index...]
                break
            }
            if !write.isLong, write.retry.scope == .all, sum + write.weight <= limit, !delayed.contains(write.owner) {
                taken.append(write)
                sum += write.weight
            } else {
                left.append(write)
                delayed.insert(write.owner)
            }
        }
        waiting = left
        return taken
    }
}

extension Job {
    var isLong: Bool { weight > WriteOrder.mostOfShort }
}
