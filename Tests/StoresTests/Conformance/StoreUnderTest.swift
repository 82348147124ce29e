import JSON
import PostgreSQLStore
import SQLiteStore
import Platform
import Support
import Tasks
import Testing

/// A kind of store that has to pass the conformance suite: another kind is one more entry in ``all``.
struct StoreUnderTest: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// Opens a new, empty store whose long lists take this memory; the folder belongs to the test alone.
    let open: @Sendable (_ folder: TemporaryFolder, _ answers: AnswerMemory) throws -> any TaskStore

    static let all = [
        StoreUnderTest(testDescription: "memory") { _, answers in MemoryTaskStore(answers: answers) },
        StoreUnderTest(testDescription: "SQLite") { folder, answers in
            try SQLiteTaskStore.open(path: folder.file("tasks.db")) { $0.answers = answers }
        },
        StoreUnderTest(testDescription: "PostgreSQL") { _, answers in
            try postgreSQL(PostgreSQLServer.started().newDatabase(), answers)
        },
        StoreUnderTest(testDescription: "PostgreSQL whose tables are distributed") { _, answers in
            try postgreSQL(DistributedDatabase.new(on: PostgreSQLServer.started()), answers)
        },
        StoreUnderTest(testDescription: "PostgreSQL through PgBouncer") { _, answers in
            try postgreSQL(PgBouncer.started().newDatabase(), answers)
        },
    ]

    static let durable = all.filter { ["SQLite", "PostgreSQL"].contains($0.testDescription) }
    /// The stores for tests that compute for seconds, and with a sanitizer for minutes.
    static let forLongLists = isSanitized ? durable : all

    private static func postgreSQL(_ address: String, _ answers: AnswerMemory) throws -> PostgreSQLTaskStore {
        try PostgreSQLTaskStore.open(address) { $0.answers = answers }
    }

    /// Gives the body a new store, and closes it.
    func with(
        answers: AnswerMemory = AnswerMemory(), _ body: (any TaskStore) async throws -> Void
    ) async throws {
        let folder = try TemporaryFolder()
        let store = try open(folder, answers)
        defer { store.close() }
        try await body(store)
    }
}

extension TaskStore {
    /// Adds a task that must be new.
    func added(
        _ value: String, completed: Bool = false, details: TaskDetails = TaskDetails(), at time: Int64 = 1000,
        key: IdempotencyKey? = nil, limit: Int = 10_000, of owner: Owner
    ) async throws -> TaskItem {
        let outcome = try await add(
            value, completed: completed, details: details, at: time, key: key, limit: limit, of: owner)
        guard case .added(let item) = outcome else { throw UnexpectedOutcome(outcome: outcome) }
        return item
    }

    /// Removes a task in any state; true if there was one.
    func remove(_ id: Int64, of owner: Owner) async throws(StoreError) -> Bool {
        try await remove(id, expected: nil, of: owner) == .removed
    }

    /// Whether the list holds exactly these tasks.
    func lists(
        _ items: [TaskItem], _ query: TaskQuery = .all, next: Int64? = nil, of owner: Owner
    ) async throws -> Bool {
        try await list(query, of: owner) == TaskList(rendering: items, next: next)
    }

    /// Those of the ids under which there is a task.
    func found(_ ids: ClosedRange<Int64>, of owner: Owner) async throws -> [Int64] {
        var found: [Int64] = []
        for id in ids where try await find(id, of: owner) != nil { found.append(id) }
        return found
    }
}

extension TaskDetails {
    /// All details, with what is easily lost: line breaks and a form that another text looks like.
    static var example: TaskDetails {
        var details = TaskDetails()
        for detail in TaskDetail.allCases { details[detail] = detail.samples.last }
        return details
    }
}

extension AddOutcome {
    /// The task that an earlier request with the same key has added; nil if this request is not such a retry.
    var repeated: TaskItem? { if case .repeated(let item) = self { item } else { nil } }
}

extension ChangeOutcome {
    /// The task after the change; nil if there was no change.
    var changed: TaskItem? { if case .changed(let item) = self { item } else { nil } }
}

extension Error {
    /// Whether a store did not reach its database.
    var isUnavailable: Bool { if case .unavailable = self as? StoreError { true } else { false } }
}

/// An addition that did not add.
struct UnexpectedOutcome: Error {
    let outcome: AddOutcome
}
