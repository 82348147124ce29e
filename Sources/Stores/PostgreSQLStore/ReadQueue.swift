import Tasks

/// Reads that wait, those of the same list as one.
struct ReadQueue {
    private struct List: Hashable {
        let owner: Owner
        let query: TaskQuery
    }

    private var steps: [ReadStep] = []
    /// The lists among them that others may join.
    private var lists: [List: ReadStep] = [:]

    var isEmpty: Bool { steps.isEmpty }

    /// Lets a request wait from a monotonic time on.
    mutating func append(_ request: ReadRequest, since: UInt64) {
        let step = ReadStep(request, since: since)
        if let list = Self.list(of: request) {
            if let step = lists[list] { return step.join(request) }
            lists[list] = step
        }
        steps.append(step)
    }

    /// Lets steps that were sent in vain wait again, before all others; they cannot be joined any more.
    mutating func putBack(_ tried: [ReadStep]) {
        steps.insert(contentsOf: tried, at: 0)
    }

    /// Takes those that have waited longest, but one list of each owner: who asks for many waits behind nobody but himself.
    mutating func next(_ count: Int) -> [ReadStep] {
        var (chosen, rest): ([ReadStep], [ReadStep]) = ([], [])
        var owners: Set<Owner> = []
        for (index, step) in steps.enumerated() {
            guard chosen.count < count else {
                rest += steps[index...]
                break
            }
            let list = step.requests.first.flatMap(Self.list)
            if let list, !owners.insert(list.owner).inserted {
                rest.append(step)
            } else {
                chosen.append(step)
                forget(step, list)
            }
        }
        steps = rest
        return chosen
    }

    /// Takes all, or those that have waited since before a monotonic time.
    mutating func removeAll(since limit: UInt64 = .max) -> [ReadStep] {
        guard let first = steps.first, first.since < limit else { return [] }
        let removed = steps.filter { $0.since < limit }
        steps.removeAll { $0.since < limit }
        for step in removed { forget(step, step.requests.first.flatMap(Self.list)) }
        return removed
    }

    private mutating func forget(_ step: ReadStep, _ list: List?) {
        if let list, lists[list] === step { lists[list] = nil }
    }

    private static func list(of request: ReadRequest) -> List? {
        guard case .list(let query, let owner, _) = request else { return nil }
        return List(owner: owner, query: query)
    }
}
