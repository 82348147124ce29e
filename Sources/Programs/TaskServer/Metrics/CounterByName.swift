import Synchronization

/// Counts rare events by name; each count takes a lock.
final class CounterByName: Sendable {
    /// The most names, in case a name ever comes from elsewhere: the program has fewer.
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
