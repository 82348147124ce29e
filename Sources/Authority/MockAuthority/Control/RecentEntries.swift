/// The last entries of a list that goes on, each with its number from 1 on.
struct RecentEntries<Entry: Sendable>: Sendable {
    struct Numbered: Sendable {
        let number: Int
        let entry: Entry
    }

    /// Oldest first, at most ``limit`` of them.
    private var all: [Numbered] = []
    private var count = 0
    private let limit: Int

    init(limit: Int) {
        self.limit = limit
    }

    mutating func append(_ entry: Entry) {
        count += 1
        if all.count >= limit { all.removeFirst() }
        all.append(Numbered(number: count, entry: entry))
    }

    /// Those of higher numbers than this one, oldest first.
    func after(_ number: Int) -> [Numbered] { all.filter { $0.number > number } }
}
