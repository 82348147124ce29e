import JSON
import MemoryStore
import Platform
import Support
import Tasks
import Testing

/// Random histories of several clients of one person, of whom each follows the changes at a pace of its own.
@Suite("Clients that ask for changes end with the server's list")
struct ChangesModelTests {
    @Test(arguments: zip(StoreUnderTest.all, [1000, 20, 20, 5]))
    func follow(kind: StoreUnderTest, histories: Int) async throws {
        var random = SeededRandom()
        try await kind.with { store in
            for number in 0..<histories {
                // In every other history removed tasks are forgotten: by the store in memory soon after, by the others at any time.
                let isForgetful = number.isMultiple(of: 2)
                let store = isForgetful && store is MemoryTaskStore ? MemoryTaskStore(removedTasksKept: 40) : store
                let start = isForgetful ? 1000 : SystemTime().wallMilliseconds
                var history = History(store, of: Owner("person-\(number)"), at: start)
                try await history.run(&random)
                let isGood = try await history.isGood()
                guard isGood else {
                    Issue.record("history \(number): \(history.log.joined(separator: "; "))")
                    return
                }
            }
        }
    }
}

private struct History {
    private let store: any TaskStore
    private let owner: Owner
    private var clients = [Follower](repeating: Follower(), count: 3)
    private var time: Int64
    /// What happened, for a person who looks for the reason of a failure.
    private(set) var log: [String] = []

    init(_ store: any TaskStore, of owner: Owner, at time: Int64) {
        (self.store, self.owner, self.time) = (store, owner, time)
    }

    mutating func run(_ random: inout SeededRandom) async throws {
        for _ in 0..<Int.random(in: 5...50, using: &random) {
            time += Int64.random(in: 0...20, using: &random)
            if Bool.random(using: &random) {
                let client = Int.random(in: 0..<clients.count, using: &random)
                let limit = Int.random(in: 1...4, using: &random)
                try await ask(client, limit: limit)
            } else {
                try await write(&random)
            }
        }
    }

    /// Lets every client ask until nothing is left, and compares.
    mutating func isGood() async throws -> Bool {
        let list = try JSONValue(parsing: try await store.list(.all, of: owner).json).array ?? []
        for client in clients.indices {
            repeat { try await ask(client, limit: 3) } while clients[client].hasMore
            guard clients[client].list == list else {
                log.append("client \(client) has \(clients[client].list)")
                return false
            }
        }
        return true
    }

    private mutating func ask(_ client: Int, limit: Int) async throws {
        let since = clients[client].point
        // The way of a point to a client and back.
        let point = since.flatMap { ChangePoint(token: $0.token(for: owner), for: owner) }
        #expect(point == since)
        let outcome = try await store.read(ListChanges(owner: owner, since: point, limit: limit))
        log.append("\(client) asks \(since.map { "\($0.number)/\($0.listed)" } ?? "all"), limit \(limit)")
        try clients[client].take(outcome)
    }

    private mutating func write(_ random: inout SeededRandom) async throws {
        let id = Int64.random(in: 1...12, using: &random)
        let change = TaskChange(
            text: try TaskText("text \(Int.random(in: 1...3, using: &random))"), completed: Bool.random(using: &random))
        let choice = Int.random(in: 0..<10, using: &random)
        switch choice {
        case 0...3: _ = try await store.added("text \(id)", at: time, of: owner)
        case 4...5: _ = try await store.change(id, change, expected: nil, at: time, of: owner)
        case 6:
            let list = Set((0..<3).map { _ in Int64.random(in: 1...12, using: &random) })
            let changes = list.map { IdentifiedChange(id: $0, change: change) }
            _ = try await store.changeAll(changes, at: time, of: owner)
        case 7: _ = try await store.remove(id, expected: nil, at: time, of: owner)
        case 8: _ = try await store.removeAll(with: try TaskText("text 1"), at: time, of: owner)
        default: _ = try await store.removeCompleted(at: time, of: owner)
        }
        log.append("write \(choice) of \(id) at \(time)")
    }
}

/// A client with what it knows of the list.
private struct Follower {
    private var tasks: [Int64: JSONValue] = [:]
    private(set) var point: ChangePoint?
    private(set) var hasMore = false

    /// In the order of ids.
    var list: [JSONValue] { tasks.sorted { $0.key < $1.key }.map(\.value) }

    mutating func take(_ outcome: ChangesOutcome) throws {
        guard case .page(let page) = outcome else {
            (tasks, point, hasMore) = ([:], nil, true)
            return
        }
        for task in try JSONValue(parsing: page.tasks.json).array ?? [] {
            tasks[try #require(task["Id"].integer)] = task
        }
        for id in page.removed { tasks[id] = nil }
        (point, hasMore) = (page.next, page.more)
    }
}
