/// What a store keeps of an addition with an idempotency key, so that a retry does not add a second task.
package struct IdempotencyRecord: Sendable, Equatable {
    package let key: IdempotencyKey
    /// The task as it was added; it may have changed or gone since.
    package let item: TaskItem

    package init(key: IdempotencyKey, item: TaskItem) {
        self.key = key
        self.item = item
    }

    /// The record in a row of a table: the fingerprint with the bits of its unsigned value, the time of the addition in
    /// milliseconds since 1970, UTC.
    package init(
        owner: Owner, key: String, fingerprint: Int64, time: Int64, id: Int64, text: TaskText, completed: Bool,
        details: TaskDetails
    ) {
        self.key = IdempotencyKey(key: key, fingerprint: UInt64(bitPattern: fingerprint))
        item = TaskItem(
            id: id, owner: owner, text: text, completed: completed, created: time, modified: time, details: details)
    }

    /// Whether the key is still remembered at this time, in milliseconds since 1970, UTC.
    package func isLive(at time: Int64) -> Bool { item.created > time - IdempotencyKey.lifetime }

    /// The outcome of an addition that repeats the key, for the same request or for another.
    package func outcome(for repeated: IdempotencyKey) -> AddOutcome {
        repeated.fingerprint == key.fingerprint ? .repeated(item) : .keyReused
    }
}
