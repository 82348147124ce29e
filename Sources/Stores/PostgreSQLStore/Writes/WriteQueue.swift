import Tasks

/// Writes that wait for one session, in the order in which they came.
struct WriteQueue {
    private var writes: [any QueuedWrite] = []

    var isEmpty: Bool { writes.isEmpty }

    /// When the next of those that failed may be sent, if there are any; monotonic nanoseconds.
    var nextTry: UInt64? { writes.lazy.map { $0.retry.notBefore }.filter { $0 > 0 }.min() }

    mutating func append(_ write: any QueuedWrite) {
        writes.append(write)
    }

    /// Takes those that share the next transaction: the first that may be sent now, and others of its scope, until they have
    /// this weight.
    mutating func next(_ weight: Int, ofOneOwner isOneOwnerOnly: Bool, at now: UInt64) -> [any QueuedWrite] {
        guard let first = writes.first(where: { $0.retry.notBefore <= now }) else { return [] }
        let scope = first.retry.scope
        let onlyOwner = scope != .all || isOneOwnerOnly ? first.owner : nil
        var (chosen, rest): ([any QueuedWrite], [any QueuedWrite]) = ([], [])
        var chosenWeight = 0
        for (index, write) in writes.enumerated() {
            guard chosenWeight < (scope == .alone ? 1 : weight) else {
                rest += writes[index...]
                break
            }
            let fits =
                write.retry.notBefore <= now && write.retry.scope == scope
                && (onlyOwner == nil || write.owner == onlyOwner)
            guard fits else {
                rest.append(write)
                continue
            }
            chosen.append(write)
            chosenWeight += write.weight
        }
        writes = rest
        return chosen
    }

    /// Takes all, or those that have waited since before a monotonic time.
    mutating func removeAll(since limit: UInt64 = .max) -> [any QueuedWrite] {
        guard writes.contains(where: { $0.since < limit }) else { return [] }
        let removed = writes.filter { $0.since < limit }
        writes.removeAll { $0.since < limit }
        return removed
    }
}
