/// The record of an addition with an idempotency key, by which a retry does not add a second task.
package struct IdempotencyRecord: Sendable, Equatable {
    package let key: IdempotencyKey
    /// The task as it was added; since then it may have been changed or removed.
    package let item: TaskItem

    package init(key: IdempotencyKey, item: TaskItem) {
        self.key = key
        self.item = item
    }

    /// Whether the key is young enough at this time, in milliseconds since 1970, UTC.
    package func isLive(at time: Int64) -> Bool { item.created > time - IdempotencyKey.lifetime }

    /// Whether the key is still remembered, by the owner's next id.
    func isRemembered(at time: Int64, next: Int64) -> Bool {
        isLive(at: time) && item.id >= next &- IdempotencyKey.remembered
    }

    /// The outcome of an addition that repeats the key, for the same request or for another.
    package func outcome(for repeated: IdempotencyKey) -> AddOutcome {
        repeated.fingerprint == key.fingerprint ? .repeated(item) : .keyReused
    }
}
