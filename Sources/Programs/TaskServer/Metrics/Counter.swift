import Synchronization

/// A number that only grows, counted by many threads without a lock.
final class Counter: Sendable {
    private let count = Atomic<Int>(0)

    var value: Int { count.load(ordering: .relaxed) }

    func add(_ amount: Int = 1) {
        count.add(amount, ordering: .relaxed)
    }
}

/// Counts by name, for what happens seldom: it takes a lock.
final class CounterByName: Sendable {
    /// More names than the program has: bounds the table if one ever comes from elsewhere.
    private static let most = 200
    private let counts = Mutex<[String: Int]>([:])

    func add(_ name: String) {
        counts.withLock { counts in
            let known = counts[name] != nil || counts.count < Self.most
            counts[known ? name : "other", default: 0] += 1
        }
    }

    var sorted: [(name: String, count: Int)] {
        counts.withLock { $0 }.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
}
