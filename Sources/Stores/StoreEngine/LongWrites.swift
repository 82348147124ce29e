import Tasks

/// The writes for which a database has room.
package enum WriteRoom: Sendable {
    case nothing
    case shortWrites
    case everything
}

/// When long writes begin, which have a transaction of their own, so that short ones need not wait for many of them.
///
/// Where several sessions write, one of them does no long write. A single one leaves the short writes four times as much time
/// as the long ones take, if there are any.
struct LongWrites {
    private static let share: UInt64 = 4

    /// When the next long write may begin on a single session, if short ones came meanwhile.
    private(set) var next: UInt64 = 0
    /// Whether short writes came after the last long one.
    var isContended = false

    /// Whether the first long write begins now, by the places of the first short and long ones in the order of turns.
    func isNext(before short: Int?, _ long: Int, at now: UInt64, running: Int, of writers: Int) -> Bool {
        guard writers == 1 else { return running < writers - 1 && short.map { long < $0 } ?? true }
        return isContended ? now >= next : short == nil
    }

    mutating func begin() { isContended = false }

    mutating func end(at now: UInt64, after duration: UInt64) {
        next = now + duration * Self.share
    }
}

extension FairQueue {
    /// The places of the next long and the next short write that may be taken now: of the owners with long ones, the one who
    /// has had least.
    func nextWrites(at now: UInt64) -> (long: Int?, short: Int?) {
        var (long, short): (Int?, Int?) = (nil, nil)
        for (place, queue) in owners.enumerated() where queue.session == nil {
            guard let first = queue.jobs.first, first.retry.notBefore <= now else { continue }
            if !first.isLong {
                short = short ?? place
            } else if long.map({ queue.debt < owners[$0].debt }) ?? true {
                long = place
            }
        }
        return (long, short)
    }
}
