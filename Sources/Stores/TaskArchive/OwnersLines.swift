import Tasks

/// What some lines of an import bring for one owner.
struct OwnersLines {
    let owner: Owner
    private(set) var items: [TaskItem] = []
    /// Those that are still remembered.
    private(set) var attempts: [Attempt] = []
    /// The least id that may be given next.
    private(set) var next: Int64 = 1

    /// The lines by owners, in the order in which servers lock them.
    static func grouped(_ lines: [ArchiveLine], at time: Int64) -> [OwnersLines] {
        var places: [Owner: Int] = [:]
        var all: [OwnersLines] = []
        for line in lines {
            guard let owner = line.owner else { continue }
            // The lines of one owner mostly stand together.
            let known = all.last?.owner == owner ? all.count - 1 : places[owner]
            if known == nil {
                places[owner] = all.count
                all.append(OwnersLines(owner: owner))
            }
            all[known ?? all.count - 1].add(line, at: time)
        }
        return all.sorted { $0.owner.identifier.utf8.lexicographicallyPrecedes($1.owner.identifier.utf8) }
    }

    private mutating func add(_ line: ArchiveLine, at time: Int64) {
        switch line {
        case .task(let item):
            items.append(item)
            next = max(next, item.id + 1)
        case .attempt(let attempt):
            if attempt.isLive(at: time) { attempts.append(attempt) }
            next = max(next, attempt.item.id + 1)
        case .owner(_, let next): self.next = max(self.next, next)
        case .end: break
        }
    }

    private init(owner: Owner) {
        self.owner = owner
    }
}
