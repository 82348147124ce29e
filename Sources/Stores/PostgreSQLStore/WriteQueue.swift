import Tasks

/// Writes that wait for the same session.
struct WriteQueue {
    private var writes: [QueuedWrite] = []

    var isEmpty: Bool { writes.isEmpty }

    /// When the next of those that were tried in vain is due, if there are any; monotonic.
    var nextTry: UInt64? { writes.lazy.map(\.notBefore).filter { $0 > 0 }.min() }

    mutating func append(_ write: QueuedWrite) {
        writes.append(write)
    }

    /// Takes those that can share the next transaction.
    mutating func next(_ count: Int, ofOneOwner isOneOwnerOnly: Bool, at now: UInt64) -> [QueuedWrite] {
        guard let first = writes.first(where: { $0.notBefore <= now }) else { return [] }
        let onlyOwner = first.company != .everybody || isOneOwnerOnly ? first.request.owner : nil
        var (chosen, rest): ([QueuedWrite], [QueuedWrite]) = ([], [])
        for (index, write) in writes.enumerated() {
            guard chosen.count < (first.company == .nobody ? 1 : count) else {
                rest += writes[index...]
                break
            }
            let fits =
                write.notBefore <= now && write.company == first.company
                && (onlyOwner == nil || write.request.owner == onlyOwner)
            if fits { chosen.append(write) } else { rest.append(write) }
        }
        writes = rest
        return chosen
    }

    /// Takes all, or those that have waited since before a monotonic time.
    mutating func removeAll(since limit: UInt64 = .max) -> [QueuedWrite] {
        guard writes.contains(where: { $0.since < limit }) else { return [] }
        let removed = writes.filter { $0.since < limit }
        writes.removeAll { $0.since < limit }
        return removed
    }
}
