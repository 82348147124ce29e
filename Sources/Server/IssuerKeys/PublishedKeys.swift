import Synchronization
import Tokens

/// The snapshot of one token source's keys that requests read, which is replaced as a whole (V-76).
struct PublishedKeys: ~Copyable, Sendable {
    private let snapshot: Mutex<KeySnapshot>
    private let generation = Atomic<UInt64>(0)
    private let servesUntil = Atomic<Int64>(Int64.min)

    init(knownIssuers: [String]) {
        snapshot = Mutex(KeySnapshot(knownIssuers: knownIssuers))
    }

    var current: KeySnapshot { snapshot.withLock { $0 } }

    /// Returns whether a token verified under this generation may still be accepted (V-103, V-107).
    func isCurrent(_ generation: UInt64, now: Int64) -> Bool {
        self.generation.load(ordering: .acquiring) == generation && now < servesUntil.load(ordering: .acquiring)
    }

    /// Returns whether the snapshot holds keys that are too old to be trusted.
    func isExpired(_ now: Int64) -> Bool {
        let end = servesUntil.load(ordering: .acquiring)
        return end != Int64.min && end <= now
    }

    /// Replaces the snapshot by that of the documents that serve, until the first of them is too old.
    ///
    /// The issuers are those of all documents, also of those that are too old. The times are nanoseconds of the
    /// monotonic clock. Two calls must not overlap, or older keys could overtake newer ones.
    func publish(_ documents: [PublishedDocument], issuers: [TokenIssuer], now: Int64, until end: Int64?) {
        snapshot.withLock { snapshot in
            // Entries of the token cache are valid for one generation, so it changes before the keys are used.
            snapshot = snapshot.successor(documents, issuers: issuers, now: now)
            generation.store(snapshot.generation, ordering: .releasing)
            servesUntil.store(end ?? Int64.min, ordering: .releasing)
        }
    }
}
