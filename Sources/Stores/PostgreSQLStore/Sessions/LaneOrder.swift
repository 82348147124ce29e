import Tasks

/// Chooses which of the jobs that wait in a lane the session takes next: reads, or writes that share a transaction.
struct LaneOrder {
    /// The number of reads that are sent together, at most.
    private static let mostReads = 64

    /// The weight at which a transaction is full.
    let weight: Int
    /// A transaction may not cover owners of several servers.
    let isOneOwnerOnly: Bool
    /// Reads and writes take turns.
    private var wroteLast = false

    init(weight: Int, isOneOwnerOnly: Bool) {
        self.weight = weight
        self.isOneOwnerOnly = isOneOwnerOnly
    }

    /// Removes and returns the jobs of the next batch, which are all reads or all writes.
    mutating func next(of waiting: inout [LaneJob], at now: UInt64) -> [LaneJob] {
        let due = waiting.lazy.filter { $0.notBefore <= now }
        guard let first = due.first(where: { $0.isWrite != wroteLast }) ?? due.first else { return [] }
        wroteLast = first.isWrite
        switch first {
        case .read: return Self.takeReads(of: &waiting)
        case .write(let write): return takeWrites(of: &waiting, with: write, at: now)
        }
    }

    /// Takes the reads that have waited longest, but one list of each owner: many requests of one owner delay only the
    /// lists of that owner.
    private static func takeReads(of waiting: inout [LaneJob]) -> [LaneJob] {
        var owners: Set<Owner> = []
        var count = 0
        return take(of: &waiting) { job in
            guard count < mostReads, let statement = job.read?.statement else { return false }
            guard !statement.takesTurns || statement.owner.map({ owners.insert($0).inserted }) ?? true else {
                return false
            }
            count += 1
            return true
        }
    }

    /// Takes the writes that share a transaction with the first one: those of its scope that may be sent now, until the
    /// transaction is full.
    private func takeWrites(
        of waiting: inout [LaneJob], with first: any QueuedWrite, at now: UInt64
    ) -> [LaneJob] {
        let scope = first.retry.scope
        let owner = scope != .all || isOneOwnerOnly ? first.owner : nil
        let limit = scope == .alone ? 1 : weight
        var sum = 0
        return Self.take(of: &waiting) { job in
            guard sum < limit, let write = job.write, write.retry.notBefore <= now, write.retry.scope == scope,
                owner == nil || write.owner == owner
            else { return false }
            sum += write.weight
            return true
        }
    }

    private static func take(of waiting: inout [LaneJob], where isChosen: (LaneJob) -> Bool) -> [LaneJob] {
        var (chosen, rest): ([LaneJob], [LaneJob]) = ([], [])
        for job in waiting {
            if isChosen(job) { chosen.append(job) } else { rest.append(job) }
        }
        waiting = rest
        return chosen
    }
}
