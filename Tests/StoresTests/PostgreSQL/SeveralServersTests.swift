import PostgreSQLStore
import Platform
import PostgreSQL
import Support
import Tasks
import Testing

@Suite("Several servers on one PostgreSQL")
struct SeveralServersTests {
    /// How they reach it.
    enum Way: CaseIterable {
        case directly, throughPgBouncer

        func newDatabase() throws -> String {
            switch self {
            case .directly: try PostgreSQLServer.started().newDatabase()
            case .throughPgBouncer: try PgBouncer.started().newDatabase()
            }
        }
    }

    private func withTwo(
        _ way: Way, _ body: (PostgreSQLTaskStore, PostgreSQLTaskStore) async throws -> Void
    ) async throws {
        let address = try way.newDatabase()
        let (first, second) = (try PostgreSQLTaskStore.open(address), try PostgreSQLTaskStore.open(address))
        defer {
            first.close()
            second.close()
        }
        try await body(first, second)
    }

    @Test(arguments: Way.allCases)
    func `Ids stay unique and without gaps, whichever server gives them`(way: Way) async throws {
        let owners = (0..<4).map { Owner("owner-\($0)") }
        try await withTwo(way) { first, second in
            let items = try await atOnce(0..<400) { number in
                try await (number % 8 < 4 ? first : second).added("task \(number)", of: owners[number % 4])
            }
            for owner in owners {
                #expect(items.filter { $0.owner == owner }.map(\.id).sorted() == Array(1...100))
            }
        }
    }

    @Test(arguments: Way.allCases)
    func `An idempotency key holds on every server`(way: Way) async throws {
        let key = IdempotencyKey(key: "k", fingerprint: 7)
        let now = SystemTime().wallMilliseconds
        try await withTwo(way) { first, second in
            for round in 0..<10 {
                let owner = Owner("owner-\(round)")
                let outcomes = try await atOnce(0..<20) { number in
                    try await (number % 2 == 0 ? first : second).add("x", at: now, key: key, of: owner)
                }
                #expect(outcomes.filter { if case .added = $0 { true } else { false } }.count == 1)
                #expect(outcomes.filter { if case .repeated = $0 { true } else { false } }.count == 19)
            }
        }
    }

    @Test(arguments: Way.allCases)
    func `Mixed writes of the same owners all end, without a deadlock that a caller sees`(way: Way) async throws {
        try await withTwo(way) { first, second in
            for number in 0..<10 { _ = try await first.added("seed", of: Owner("owner-\(number)")) }
            try await atOnce(0..<300) { number in
                let (owner, store) = (Owner("owner-\(number % 10)"), number % 3 == 0 ? first : second)
                switch number % 4 {
                case 0: _ = try await store.added("n", of: owner)
                case 1:
                    let change = TaskChange(completed: number % 8 == 1)
                    _ = try await store.change(1, change, expected: nil, at: 5, of: owner)
                case 2: _ = try await store.remove(Int64(number % 7 + 2), of: owner)
                default: _ = try await store.removeAll(with: try TaskText("n"), of: owner)
                }
            }
        }
    }

    @Test(arguments: Way.allCases)
    func `Ten servers that start at once make the tables once`(way: Way) async throws {
        for partitions in [nil, 4] {
            let address = try way.newDatabase()
            let events = Recorded<StoreEvent>()
            try await atOnce(0..<10) { number in
                let store = try PostgreSQLTaskStore.open(address) {
                    ($0.partitions, $0.observer) = (partitions, events.append)
                }
                defer { store.close() }
                #expect(try await store.added("x", of: Owner("owner-\(number)")).id == 1)
            }
            #expect(events.all.filter { if case .created = $0 { true } else { false } }.count == 1)
        }
    }
}
