import Tasks

/// Reads that wait for a session, in the order in which they came.
struct ReadQueue {
    private var reads: [any QueuedRead] = []

    var isEmpty: Bool { reads.isEmpty }

    /// Lets a read wait from a monotonic time on.
    mutating func append(_ read: any QueuedRead, since now: UInt64) {
        var read = read
        read.since = now
        reads.append(read)
    }

    /// Lets reads go first that were sent without success, or that follow another read.
    mutating func putBack(_ returned: [any QueuedRead]) {
        reads.insert(contentsOf: returned, at: 0)
    }

    /// Takes the reads that have waited longest, but one list of each owner: many requests of one owner delay only the
    /// lists of that owner.
    mutating func next(_ count: Int) -> [any QueuedRead] {
        var (chosen, rest): ([any QueuedRead], [any QueuedRead]) = ([], [])
        var owners: Set<Owner> = []
        for (index, read) in reads.enumerated() {
            guard chosen.count < count else {
                rest += reads[index...]
                break
            }
            let isNext = !read.statement.takesTurns || read.statement.owner.map { owners.insert($0).inserted } ?? true
            if isNext { chosen.append(read) } else { rest.append(read) }
        }
        reads = rest
        return chosen
    }

    /// Takes all, or those that have waited since before a monotonic time.
    mutating func removeAll(since limit: UInt64 = .max) -> [any QueuedRead] {
        guard reads.contains(where: { $0.since < limit }) else { return [] }
        let removed = reads.filter { $0.since < limit }
        reads.removeAll { $0.since < limit }
        return removed
    }
}
