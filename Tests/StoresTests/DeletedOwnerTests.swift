import JSON
import Platform
import SQLiteStore
import Support
import Tasks
import Testing

@Suite("What is left of a deleted owner")
struct DeletedOwnerTests {
    private let time = ManualClock()
    private let alice = Owner("alice")

    /// What every text of alice has, and no other owner's.
    private static let mark = "\u{A7}alice"

    /// Adds, changes and removes tasks of many owners in turn, so that rows move from page to page.
    private func fill(_ store: any TaskStore, _ random: inout SeededRandom) async throws {
        let owners = (0..<40).map { $0 == 20 ? alice : Owner("\($0 < 20 ? "a" : "b")\($0)") }
        var last: [Owner: Int64] = [:]
        for number in 0..<4000 {
            let owner = owners[Int.random(in: 0..<owners.count, using: &random)]
            let size = [5, 30, 200, 3000][Int.random(in: 0..<4, using: &random)]
            let text = (owner == alice ? Self.mark : "x") + String(repeating: "\(number) ", count: size / 4)
            let details = size == 200 ? TaskDetails([.notes: .string(text + text)]) : TaskDetails()
            switch (number % 10, last[owner]) {
            case (8, let id?):
                let change = TaskChange(text: try TaskText(text))
                _ = try await store.change(id / 2 + 1, change, expected: nil, at: 2000, of: owner)
            case (9, let id?): _ = try await store.remove(id / 3 + 1, of: owner)
            default:
                let key = size == 30 ? IdempotencyKey(key: "\(number)", fingerprint: 1) : nil
                last[owner] = try await store.added(text, details: details, key: key, of: owner).id
            }
        }
    }

    /// Whether the file or its log has a text of alice.
    private func hasText(_ path: String) throws -> Bool {
        try ["", "-wal"].contains { suffix in
            var rest = try File.read(path + suffix)[...]
            while let place = rest.firstIndex(of: 0xC2) {
                rest = rest[place...]
                if rest.starts(with: Self.mark.utf8) { return true }
                rest.removeFirst()
            }
            return false
        }
    }

    @Test(
        "The file of SQLite and its log have no byte of a removed text, a moment later while the server runs",
        arguments: 1...(isSanitized ? 1 : 4))
    func bytes(seed: UInt64) async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("tasks.db")
        let store = try SQLiteTaskStore.open(path: path) {
            ($0.time, $0.logEmptyingMilliseconds) = (time, 1)
        }
        defer { store.close() }
        var random = SeededRandom(seed: seed)
        try await fill(store, &random)
        #expect(try hasText(path))
        try await store.perform(RemoveOwner(owner: alice, issued: 1000, time: time.wallMilliseconds))
        try await eventually("no text is left") { try !hasText(path) }
    }

    @Test("The row of a deleted owner goes after a month", arguments: MovableStore.all)
    func row(kind: MovableStore) async throws {
        try await kind.with(time: time) { place in
            let store = place.store
            for name in ["alice", "back", "stays"] {
                _ = try await store.added("x", at: time.wallMilliseconds, of: Owner(name))
                guard name != "stays" else { continue }
                try await store.perform(RemoveOwner(owner: Owner(name), issued: 1000, time: time.wallMilliseconds))
            }
            _ = try await store.added("x", at: time.wallMilliseconds, of: Owner("back"))
            _ = try await store.remove(2, of: Owner("back"))
            func owners() throws -> Int64? { try place.integer("SELECT count(*) FROM owners") }
            time.advance(seconds: 31 * 86_400 - 1)
            _ = try await store.added("x", at: time.wallMilliseconds, of: Owner("later"))
            #expect(try owners() == 4)
            time.advance(seconds: 1)
            try await eventually("one row is gone") { try owners() == 3 }
            #expect(try await store.added("y", at: time.wallMilliseconds, of: Owner("back")).id == 3)
            #expect(try await store.added("y", at: time.wallMilliseconds, of: alice).id == 1)
        }
    }
}
