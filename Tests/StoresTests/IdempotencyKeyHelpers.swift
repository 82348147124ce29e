import Basics
import Platform
import Support
import Tasks
import Testing

extension TaskStore {
    /// Adds a task with each of these keys, and removes it, all at once: as a person does who has reached a limit.
    ///
    /// For the bound on keys, removed tasks count as well.
    func addAndRemove(
        keys: some Sequence<String>, at time: Int64, limit: Int = 10_000, of owner: Owner
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, name) in keys.enumerated() {
                // One person may not have more calls waiting.
                if number >= 1000 { try await group.next() }
                let key = IdempotencyKey(key: name, fingerprint: 1)
                group.addTask {
                    let item = try await added("x", at: time, key: key, limit: limit, of: owner)
                    #expect(try await remove(item.id, of: owner))
                }
            }
            try await group.waitForAll()
        }
    }
}
