import Tasks

/// What some lines of an import say about one owner.
struct OwnerLines {
    let owner: Owner
    private(set) var items: [TaskItem] = []
    /// The idempotency keys that are still remembered.
    private(set) var records: [IdempotencyRecord] = []
    /// The least id that may be given next.
    private(set) var next: Int64 = 1

    private init(owner: Owner) {
        self.owner = owner
    }

    /// The lines by owner, in the order in which servers lock owners; `time` in milliseconds since 1970, UTC.
    static func grouped(_ lines: [ArchiveLine], at time: Int64) -> [OwnerLines] {
        var indices: [Owner: Int] = [:]
        var all: [OwnerLines] = []
        for line in lines {
            guard let owner = line.owner else { continue }
            let index = indices[owner] ?? all.count
            if index == all.count {
                indices[owner] = index
                all.append(OwnerLines(owner: owner))
            }
            all[index].add(line, at: time)
        }
        return all.sorted { $0.owner < $1.owner }
    }

    private mutating func add(_ line: ArchiveLine, at time: Int64) {
        switch line {
        case .task(let item):
            items.append(item)
            next = max(next, item.id + 1)
        case .key(let record):
            if record.isLive(at: time) { records.append(record) }
            next = max(next, record.item.id + 1)
        case .owner(_, let next): self.next = max(self.next, next)
        case .end: break
        }
    }
}
