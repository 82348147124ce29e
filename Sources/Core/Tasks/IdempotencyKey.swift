/// A client's key for one addition, and a digest of the request.
package struct IdempotencyKey: Sendable, Hashable {
    /// The value of `Idempotency-Key`: 1 to 255 printable ASCII characters.
    package let key: String
    /// A digest of the request, to detect a key that is reused for another one.
    package let fingerprint: UInt64

    package init(key: String, fingerprint: UInt64) {
        self.key = key
        self.fingerprint = fingerprint
    }

    /// Whether a text has the form of a ``key``.
    package static func isKey(_ text: String) -> Bool {
        (1...255).contains(text.utf8.count) && text.utf8.allSatisfy { (0x20...0x7E).contains($0) }
    }

    /// The time for which a key is remembered, in milliseconds: a day, if it is among the owner's newest.
    package static let lifetime: Int64 = 86_400_000

    /// The number of an owner's newest keys that are remembered, even if their tasks are removed.
    ///
    /// A client repeats only the few requests without an answer, so it stays far below this bound.
    package static let remembered: Int64 = 1000
    /// The number of keys beyond ``remembered`` at which those are forgotten.
    package static let room: Int64 = 32
}

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

    /// The outcome of an addition that repeats the key, for the same request or for another.
    package func outcome(for repeated: IdempotencyKey) -> AddOutcome {
        repeated.fingerprint == key.fingerprint ? .repeated(item) : .keyReused
    }
}
