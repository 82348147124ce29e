import Synchronization

/// A number that only grows, counted by many threads without a lock.
final class Counter: Sendable {
    private let count = Atomic<Int>(0)

    var value: Int { count.load(ordering: .relaxed) }

    func add(_ amount: Int = 1) {
        count.add(amount, ordering: .relaxed)
    }
}

/// Numbers by a word of the program, for what happens seldom: it takes a lock.
final class CounterByWord: Sendable {
    /// More words than the program has: bounds the table if one ever comes from elsewhere.
    private static let most = 200
    private let counts = Mutex<[String: Int]>([:])

    func add(_ word: String) {
        counts.withLock { counts in
            let known = counts[word] != nil || counts.count < Self.most
            counts[known ? word : "other", default: 0] += 1
        }
    }

    var sorted: [(word: String, count: Int)] {
        counts.withLock { $0 }.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
}
