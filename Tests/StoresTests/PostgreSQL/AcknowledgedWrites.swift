import Platform
import Support
import Synchronization
import Tasks
import Testing

/// Adds tasks, each of its own text, and compares what was acknowledged with what the database holds.
final class AcknowledgedWrites: Sendable {
    private let acknowledged = Mutex<[String: Int64]>([:])
    private let isOver = Atomic(false)
    private let number = Atomic(0)
    private let refusals = Atomic(0)
    /// After each text, so that it takes room.
    private let filling: String
    let owners: [Owner]

    init(owners: Int, filling: Int = 0) {
        self.owners = (0..<owners).map { Owner("owner-\($0)") }
        self.filling = String(repeating: "x", count: filling)
    }

    var count: Int { acknowledged.withLock { $0.count } }

    /// How many were not acknowledged.
    var refused: Int { refusals.load(ordering: .relaxed) }

    /// Adds while the body runs, from this many callers of each store at once, and expects that nothing is lost or
    /// doubled.
    func add(to stores: any TaskStore..., callers: Int, while body: () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for store in stores {
                for _ in 0..<callers { group.addTask { await self.addUntilOver(to: store) } }
            }
            try await body()
            for store in stores { try await awaitStore(store) }
            isOver.store(true, ordering: .releasing)
        }
        #expect(try await faults(in: stores[0]) == [])
    }

    /// Adds until the body is over, or until a test that failed cancels it.
    private func addUntilOver(to store: any TaskStore) async {
        while !isOver.load(ordering: .acquiring), !Task.isCancelled {
            let serial = number.add(1, ordering: .relaxed).newValue
            let text = "task \(serial)\(filling)"
            let outcome = try? await store.add(text, of: owners[serial % owners.count])
            if case .added(let item) = outcome {
                acknowledged.withLock { $0[text] = item.id }
            } else {
                refusals.add(1, ordering: .relaxed)
            }
            // While other tests hold the threads, nobody ends this; without a pause the lists would be full by then.
            try? await Task.sleep(for: .milliseconds(outcome == nil ? 5 : 1))
        }
    }

    /// What is wrong with what the database holds: acknowledged tasks that are missing, texts that are there twice.
    private func faults(in store: any TaskStore) async throws -> [String] {
        var there: [String: [Int64]] = [:]
        for owner in owners {
            var after: Int64 = 0
            while true {
                let page = try await store.list(TaskQuery(limit: 1000, after: after), of: owner)
                for id in page.identifiers {
                    guard let item = try await store.find(id, of: owner) else { continue }
                    there[item.text.value, default: []].append(id)
                }
                guard let next = page.next else { break }
                after = next
            }
        }
        let lost = acknowledged.withLock { $0 }.filter { text, id in !(there[text] ?? []).contains(id) }
        return lost.map { "lost: \($0.key)" } + there.filter { $0.value.count > 1 }.map { "twice: \($0.key)" }
    }
}

extension TaskList {
    /// The ids in it, read out of the JSON.
    fileprivate var identifiers: [Int64] {
        String(decoding: json, as: UTF8.self).split(separator: "\"Id\":").dropFirst().compactMap { piece in
            Int64(piece.prefix { $0.isNumber })
        }
    }
}

/// Waits until the store can be written again.
func awaitStore(_ store: any TaskStore, within limit: Duration = patience) async throws {
    await eventually("the store can be written", within: limit) { (try? await store.check()) != nil }
    try await store.check()
}

/// Why a store takes no writes now, if it says so.
func refusal(of store: any TaskStore) async -> String? {
    await thrown { () async throws(StoreError) in try await store.check() }?.unavailability
}

extension StoreError {
    /// Why the store did not reach its database, if this is the error.
    var unavailability: String? { if case .unavailable(let reason) = self { reason } else { nil } }
}
