import Basics
import Platform
import Support
import Tasks
import Testing

extension TaskStore {
    /// Adds a task with each of these keys, and removes it, all at once: as a person does who has reached a limit.
    ///
    /// For the bound on keys, removed tasks count as well.
    func addAndRemove(keys: [String], at time: Int64, of owner: Owner) async throws {
        try await atOnce(keys) { name in
            let item = try await added("x", at: time, key: IdempotencyKey(key: name, fingerprint: 1), of: owner)
            #expect(try await remove(item.id, of: owner))
        }
    }
}
