import Basics
import JSON
import Tasks

/// One line of an export.
enum ArchiveLine: Equatable {
    /// A task with everything that the store knows of it.
    case task(TaskItem)
    /// A task as it was added under an idempotency key.
    case attempt(Attempt)
    /// The next id of an owner whose newest tasks are gone.
    case owner(Owner, next: Int64)
    /// The last line: the export is whole, and has so many tasks and idempotency keys.
    case end(tasks: Int, keys: Int)

    /// The line as JSON.
    var json: [UInt8] {
        switch self {
        case .task(let item):
            JSONValue.object(
                JSONObject([
                    ("owner", .string(item.owner.identifier)), ("id", .integer(item.id)),
                    ("text", .string(item.text.value)), ("completed", .boolean(item.completed)),
                    ("created", .string(Timestamp(milliseconds: item.created).text)),
                    ("modified", .string(Timestamp(milliseconds: item.modified).text)),
                    ("revision", .integer(item.revision)),
                ])
            ).serialized()
        case .attempt(let attempt): attempt.json.serialized()
        case .owner(let owner, let next):
            JSONValue.object(JSONObject([("owner", .string(owner.identifier)), ("next", .integer(next))])).serialized()
        case .end(let tasks, let keys):
            JSONValue.object(
                JSONObject(
                    [("end", .boolean(true)), ("tasks", .integer(Int64(tasks)))]
                        + (keys > 0 ? [("keys", .integer(Int64(keys)))] : []))
            ).serialized()
        }
    }

    /// Whose line it is; the last one is nobody's.
    var owner: Owner? {
        switch self {
        case .task(let item): item.owner
        case .attempt(let attempt): attempt.item.owner
        case .owner(let owner, _): owner
        case .end: nil
        }
    }

    /// What is wrong with a line; names members, never their values.
    struct Fault: Error, Equatable {
        let reason: String
    }

    /// Reads a line, strictly: every member, and no other.
    init(parsing bytes: [UInt8]) throws(Fault) {
        if let item = TaskLineReader.item(in: bytes) {
            self = .task(item)
            return
        }
        let members = try Self.members(of: bytes)
        if members["end"]?.boolean == true {
            let tasks = Int(try Self.need(members["tasks"]?.integer.flatMap { $0 >= 0 ? $0 : nil }, "tasks"))
            var keys: Int64 = 0
            if members.contains("keys") { keys = try Self.need(members["keys"]?.integer.flatMap(Self.counted), "keys") }
            self = .end(tasks: tasks, keys: Int(keys))
            try Self.only(keys > 0 ? 3 : 2, members)
            return
        }
        let owner = Owner(try Self.need(members["owner"]?.string.flatMap { $0.isEmpty ? nil : $0 }, "owner"))
        if members.contains("next") {
            self = .owner(owner, next: try Self.need(members["next"]?.integer.flatMap(Self.counted), "next"))
            try Self.only(2, members)
        } else if members.contains("key") {
            self = .attempt(try Self.attempt(members, of: owner))
            try Self.only(7, members)
        } else {
            self = .task(try Self.task(members, of: owner))
            try Self.only(7, members)
        }
    }

    private static func task(_ members: JSONObject, of owner: Owner) throws(Fault) -> TaskItem {
        TaskItem(
            id: try need(members["id"]?.integer.flatMap(counted), "id"), owner: owner,
            text: try text(need(members["text"]?.string, "text")),
            completed: try need(members["completed"]?.boolean, "completed"),
            created: try need(members["created"]?.string.flatMap(Timestamp.init(parsing:)), "created").milliseconds,
            modified: try need(members["modified"]?.string.flatMap(Timestamp.init(parsing:)), "modified").milliseconds,
            revision: try need(members["revision"]?.integer.flatMap(counted), "revision"))
    }

    private static func attempt(_ members: JSONObject, of owner: Owner) throws(Fault) -> Attempt {
        let key = IdempotencyKey(
            key: try need(members["key"]?.string.flatMap(Attempt.key), "key"),
            fingerprint: try need(members["fingerprint"]?.string.flatMap(Attempt.fingerprint), "fingerprint"))
        let created = try need(members["created"]?.string.flatMap(Timestamp.init(parsing:)), "created").milliseconds
        return Attempt(
            key: key,
            item: TaskItem(
                id: try need(members["id"]?.integer.flatMap(counted), "id"), owner: owner,
                text: try text(need(members["text"]?.string, "text")),
                completed: try need(members["completed"]?.boolean, "completed"), created: created, modified: created))
    }

    private static func members(of bytes: [UInt8]) throws(Fault) -> JSONObject {
        do throws(JSONError) {
            return try need(try JSONValue(parsing: bytes).object)
        } catch {
            switch error {
            case .tooLong, .tooDeep: throw Fault(reason: "too long or too deep")
            case .malformed(_, let offset): throw Fault(reason: "no JSON at byte \(offset)")
            }
        }
    }

    private static func need(_ object: JSONObject?) throws(JSONError) -> JSONObject {
        guard let object else { throw .malformed(reason: "not an object", offset: 0) }
        return object
    }

    private static func need<Value>(_ value: Value?, _ name: String) throws(Fault) -> Value {
        guard let value else { throw Fault(reason: "'\(name)' is missing or has no proper value") }
        return value
    }

    private static func text(_ words: String) throws(Fault) -> TaskText {
        do throws(TaskText.Failure) {
            return try TaskText(words)
        } catch {
            throw Fault(reason: "'text' is not 1 to \(TaskText.longest) bytes without U+0000")
        }
    }

    private static func only(_ count: Int, _ members: JSONObject) throws(Fault) {
        guard members.members.count == count else { throw Fault(reason: "members that no export has") }
    }

    /// Numbers count from 1 to what every reader of JSON takes exactly.
    private static func counted(_ number: Int64) -> Int64? {
        (1..<(1 << 53)).contains(number) ? number : nil
    }
}
