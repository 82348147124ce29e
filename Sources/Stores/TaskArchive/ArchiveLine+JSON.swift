import Basics
import JSON
import Tasks

extension ArchiveLine {
    /// The line as JSON, without its end.
    var json: [UInt8] { JSONValue.object(JSONObject(members)).serialized() }

    var members: [(String, JSONValue)] {
        switch self {
        case .task(let item):
            [
                ("owner", .string(item.owner.identifier)), ("id", .integer(item.id)),
                ("text", .string(item.text.value)), ("completed", .boolean(item.completed)),
                ("created", Self.time(item.created)), ("modified", Self.time(item.modified)),
                ("revision", .integer(item.revision)),
            ] + item.details.members.map { ($0.detail.name, $0.value) }
        case .key(let record):
            [
                ("owner", .string(record.item.owner.identifier)), ("key", .string(record.key.key)),
                ("fingerprint", .string(Self.digits(record.key.fingerprint))), ("id", .integer(record.item.id)),
                ("text", .string(record.item.text.value)), ("completed", .boolean(record.item.completed)),
                ("created", Self.time(record.item.created)),
            ] + record.item.details.members.map { ($0.detail.name, $0.value) }
        case .owner(let owner, let next): [("owner", .string(owner.identifier)), ("next", .integer(next))]
        case .end(let tasks, let keys):
            [("end", .boolean(true)), ("tasks", .integer(Int64(tasks)))]
                + (keys > 0 ? [("keys", .integer(Int64(keys)))] : [])
        }
    }

    private static func time(_ milliseconds: Int64) -> JSONValue {
        .string(Timestamp(milliseconds: milliseconds).text)
    }

    /// Hexadecimal, because not every reader of JSON takes so large a number exactly.
    private static func digits(_ fingerprint: UInt64) -> String { String(fingerprint, radix: 16) }

    /// The fingerprint of these digits, if they are as an export writes them.
    static func fingerprint(_ digits: String) -> UInt64? {
        // Written again and compared: finds a sign, leading zeros and capitals.
        UInt64(digits, radix: 16).flatMap { self.digits($0) == digits ? $0 : nil }
    }
}
