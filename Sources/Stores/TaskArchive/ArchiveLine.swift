import Basics
import JSON
import Tasks

enum ArchiveLine: Equatable {
    /// A task with everything that the store knows of it.
    case task(TaskItem)
    /// An idempotency key, with the task that was added under it.
    case key(IdempotencyRecord)
    /// The next id of an owner whose newest tasks are gone.
    case owner(Owner, next: Int64)
    /// The last line: the export is whole, and has this many tasks and idempotency keys.
    case end(tasks: Int, keys: Int)

    /// The owner of the line; the last one has none.
    var owner: Owner? {
        switch self {
        case .task(let item): item.owner
        case .key(let record): record.item.owner
        case .owner(let owner, _): owner
        case .end: nil
        }
    }

    /// Parses a line, which must have all members of its kind and no others; the error never quotes a value.
    init(parsing bytes: [UInt8]) throws(OperatorError) {
        let members = try rethrowing(as: Self.fault) { () throws(JSONError) in
            try JSONMembers(parsing: bytes, limits: JSONLimits(), most: .max)
        }
        self = try LineParser(members: members).line()
        guard members.count == self.members.count else { throw OperatorError("members that no export has") }
    }

    private static func fault(_ error: JSONError) -> OperatorError {
        switch error {
        case .tooLong, .tooDeep: OperatorError("too long or too deep")
        case .malformed(_, let offset): OperatorError("no JSON at byte \(offset)")
        }
    }
}

extension ArchiveLine {
    /// The line as JSON, without its end.
    var json: [UInt8] { JSONValue.object(JSONObject(members)).serialized() }

    private var members: [(String, JSONValue)] {
        switch self {
        case .task(let item):
            [("owner", .string(item.owner.identifier))]
                + Self.members(
                    of: item, [("modified", Self.time(item.modified)), ("revision", .integer(item.revision))])
        case .key(let record):
            [
                ("owner", .string(record.item.owner.identifier)), ("key", .string(record.key.key)),
                ("fingerprint", .string(Self.digits(record.key.fingerprint))),
            ] + Self.members(of: record.item)
        case .owner(let owner, let next): [("owner", .string(owner.identifier)), ("next", .integer(next))]
        case .end(let tasks, let keys):
            [("end", .boolean(true)), ("tasks", .integer(Int64(tasks)))]
                + (keys > 0 ? [("keys", .integer(Int64(keys)))] : [])
        }
    }

    private static func members(of item: TaskItem, _ state: [(String, JSONValue)] = []) -> [(String, JSONValue)] {
        [
            ("id", .integer(item.id)), ("text", .string(item.text.value)), ("completed", .boolean(item.completed)),
            ("created", time(item.created)),
        ] + state + item.details.members.map { ($0.detail.name, $0.value) }
    }

    private static func time(_ milliseconds: Int64) -> JSONValue {
        .string(Timestamp(milliseconds: milliseconds).text)
    }

    /// Writes hexadecimal digits, because not every reader of JSON takes so large a number exactly.
    private static func digits(_ fingerprint: UInt64) -> String { String(fingerprint, radix: 16) }

    /// The fingerprint of these digits, if they are as an export writes them.
    static func fingerprint(_ digits: String) -> UInt64? {
        // Digits with a sign, leading zeros or capitals differ when the number is written again.
        UInt64(digits, radix: 16).flatMap { self.digits($0) == digits ? $0 : nil }
    }
}

/// Finds the members that a line needs.
private struct LineParser {
    let members: JSONMembers

    func line() throws(OperatorError) -> ArchiveLine {
        if members["end"]?.boolean == true {
            let tasks = try need("tasks") { $0.integer.flatMap { $0 >= 0 ? $0 : nil } }
            return .end(tasks: Int(tasks), keys: members["keys"] == nil ? 0 : Int(try number("keys")))
        }
        let owner = try need("owner") { $0.string.flatMap { Owner(checked: $0) } }
        if members["next"] != nil {
            return .owner(owner, next: try need("next") { $0.integer.flatMap { $0.isNextID ? $0 : nil } })
        }
        let details = try details()
        return members["key"] == nil ? .task(try task(of: owner, details)) : .key(try record(of: owner, details))
    }

    /// The details in the line: an export has only details that are set, and an older export has none.
    private func details() throws(OperatorError) -> TaskDetails {
        var details = TaskDetails()
        for detail in TaskDetail.allCases where members[detail.name] != nil {
            details[detail] = try need(detail.name) { detail.kind.checked($0) }
        }
        return details
    }

    private func task(
        of owner: Owner, _ details: TaskDetails, isUnchanged: Bool = false
    ) throws(OperatorError) -> TaskItem {
        TaskItem(
            id: try number("id"), owner: owner, text: try text(), completed: try need("completed") { $0.boolean },
            created: try time("created"), modified: try time(isUnchanged ? "created" : "modified"),
            revision: isUnchanged ? 1 : try number("revision"), details: details)
    }

    private func record(of owner: Owner, _ details: TaskDetails) throws(OperatorError) -> IdempotencyRecord {
        let key = IdempotencyKey(
            key: try need("key") { $0.string.flatMap { IdempotencyKey.isKey($0) ? $0 : nil } },
            fingerprint: try need("fingerprint") { $0.string.flatMap(ArchiveLine.fingerprint) })
        return IdempotencyRecord(key: key, item: try task(of: owner, details, isUnchanged: true))
    }

    private func need<Value>(_ name: String, _ convert: (JSONValue) -> Value?) throws(OperatorError) -> Value {
        guard let value = members[name].flatMap(convert) else {
            throw OperatorError("'\(name)' is missing or has no proper value")
        }
        return value
    }

    /// A number from 1 to the greatest that a task can have.
    private func number(_ name: String) throws(OperatorError) -> Int64 {
        try need(name) { $0.integer.flatMap { $0.isTaskNumber ? $0 : nil } }
    }

    /// A time, in milliseconds since 1970, UTC.
    private func time(_ name: String) throws(OperatorError) -> Int64 {
        try need(name) { $0.string.flatMap(Timestamp.init(parsing:))?.milliseconds }
    }

    private func text() throws(OperatorError) -> TaskText {
        let value = try need("text") { $0.string }
        let reason = "'text' is not 1 to \(TaskText.longest) bytes without U+0000"
        return try rethrowing(as: { _ in OperatorError(reason) }) { () throws(TaskText.Failure) in
            try TaskText(value)
        }
    }
}
