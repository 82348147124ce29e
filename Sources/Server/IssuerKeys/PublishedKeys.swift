import Synchronization

/// The snapshot of the keys that requests read; replaced as a whole (V-76).
///
/// A hit of the token cache asks only ``isCurrent(_:now:)``, which takes no lock.
struct PublishedKeys: ~Copyable, Sendable {
    private let snapshot = Mutex(KeySnapshot.empty)
    private let generation = Atomic<UInt64>(0)
    private let servesUntil = Atomic<Int64>(Int64.min)

    var current: KeySnapshot { snapshot.withLock { $0 } }

    /// Whether a token verified under this generation may still be accepted (V-103, V-107).
    func isCurrent(_ generation: UInt64, now: Int64) -> Bool {
        self.generation.load(ordering: .acquiring) == generation && now < servesUntil.load(ordering: .acquiring)
    }

    /// Whether the snapshot holds keys that are too old to be trusted.
    func isExpired(_ now: Int64) -> Bool {
        let end = servesUntil.load(ordering: .acquiring)
        return end != Int64.min && end <= now
    }

    /// Replaces the snapshot by that of these keys.
    ///
    /// Two calls must not overlap, or the older keys could overtake the newer.
    ///
    /// - Parameters:
    ///   - sources: the keys of each key source that serves, and its policy.
    ///   - end: when the first of them is too old, in nanoseconds of the monotonic clock.
    func publish(_ sources: [(keys: LoadedKeys, policy: String?)], until end: Int64) {
        snapshot.withLock { snapshot in
            // Entries of the token cache are valid for one generation, so it changes before the keys are used.
            snapshot = snapshot.successor(sources: sources)
            generation.store(snapshot.generation, ordering: .releasing)
            servesUntil.store(end, ordering: .releasing)
        }
    }
}
