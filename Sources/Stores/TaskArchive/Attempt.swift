import Basics
import JSON
import Tasks

/// What is remembered of an addition with an idempotency key, so that it is not done twice.
struct Attempt: Equatable {
    let key: IdempotencyKey
    /// The task as it was added; it may have changed or gone since.
    let item: TaskItem

    /// Whether it is remembered at this time.
    func isLive(at time: Int64) -> Bool { item.created > time - IdempotencyKey.lifetime }

    /// The line as JSON.
    var json: JSONValue {
        .object(
            JSONObject([
                ("owner", .string(item.owner.identifier)), ("key", .string(key.key)),
                ("fingerprint", .string(Self.digits(key.fingerprint))), ("id", .integer(item.id)),
                ("text", .string(item.text.value)), ("completed", .boolean(item.completed)),
                ("created", .string(Timestamp(milliseconds: item.created).text)),
            ]))
    }

    /// Hexadecimal, because not every reader of JSON takes so large a number exactly.
    private static func digits(_ fingerprint: UInt64) -> String { String(fingerprint, radix: 16) }

    static func fingerprint(_ digits: String) -> UInt64? {
        // The way back: catches a sign, zeros in front and capitals.
        UInt64(digits, radix: 16).flatMap { self.digits($0) == digits ? $0 : nil }
    }

    /// A key that a request may have.
    static func key(_ text: String) -> String? {
        (1...255).contains(text.utf8.count) && text.utf8.allSatisfy { (0x20...0x7E).contains($0) } ? text : nil
    }
}
