import Basics
package import JSON

/// A detail of a task: a value that its person may add to it.
///
/// Only this list names the details. The columns and parameters of both databases, JSON, the lines of an export, the
/// digests of idempotency keys and the reading of requests follow from it. The order is that of columns and members, so
/// a new detail comes last.
package enum TaskDetail: Int, CaseIterable, Sendable {
    /// The day on which the task is due, in the time zone of its person. The server compares the day with nothing.
    case due
    case notes
    /// A task without a position stands at its id, so 2.5 is between the tasks 2 and 3. Clients sort by the position;
    /// the server keeps the order of ids.
    case position
    /// The rule by which the task comes again, once it is done (``RepeatRule``). The server makes the next task.
    case `repeat`

    private var row: (name: String, digestName: String, kind: DetailKind) {
        switch self {
        case .due: ("due", "d", .date)
        case .notes: ("notes", "n", .text(longest: 10_000))
        // Every reader of JSON takes whole numbers up to this one exactly.
        case .position: ("position", "p", .number(greatest: 9_007_199_254_740_992))
        case .repeat: ("repeat", "repeat", .rule)
        }
    }

    /// The name of the column in both databases, of the member in JSON and in exports, and of the field in forms.
    package var name: String { row.name }

    /// The text that stands for the name in the digest of an idempotency key; it never changes.
    package var digestName: String { row.digestName }

    package var kind: DetailKind { row.kind }

    /// The names of all columns, for a statement.
    package static let columns = list(\.name)

    /// Returns the given text of each detail, separated by commas, for a statement.
    package static func list(_ part: (TaskDetail) -> String) -> String { allCases.map(part).joined(separator: ", ") }
}

/// The values that a detail can have, in the form that JSON has of them.
package enum DetailKind: Sendable {
    /// A day of the calendar without a time zone (RFC 3339 section 5.6, `full-date`), as text.
    case date
    /// 1 to this many bytes of UTF-8 without U+0000, kept and compared byte for byte.
    case text(longest: Int)
    /// A finite number, at most this far from 0.
    case number(greatest: Int64)
    /// The value true. A task without the detail counts as false.
    case flag
    /// A rule of RFC 5545, as text (``RepeatRule``).
    case rule

    /// The most bytes of a text that a person writes; nil for other kinds.
    package var longestText: Int? {
        if case .text(let longest) = self { longest } else { nil }
    }

    /// Returns the value in its one form, or nil if a detail of this kind cannot have it.
    ///
    /// A whole number becomes an integer, so -0 is 0.
    package func checked(_ value: JSONValue) -> JSONValue? {
        switch (self, value) {
        case (.date, .string(let text)): CivilDate(text) == nil ? nil : value
        case (.text(let longest), .string(let text)):
            (1...longest).contains(text.utf8.count) && !text.containsNUL ? value : nil
        case (.number(let greatest), .integer(let number)): number.magnitude <= greatest ? value : nil
        case (.number(let greatest), .real(let number)):
            abs(number) <= Double(greatest) ? Int64(exactly: number).map { .integer($0) } ?? value : nil
        case (.flag, .boolean(true)): value
        case (.rule, .string(let text)): (try? RepeatRule(text)).map { .string($0.text) }
        case (.date, _), (.text, _), (.number, _), (.flag, _), (.rule, _): nil
        }
    }
}

/// The details that a task has; most tasks have none, and no details take no memory.
package struct TaskDetails: Sendable {
    package struct Member: Sendable {
        package let detail: TaskDetail
        /// See ``DetailKind/checked(_:)``.
        package let value: JSONValue
    }

    /// The details with their values, in the order of ``TaskDetail``.
    package private(set) var members: [Member] = []

    package init() {}

    package var isEmpty: Bool { members.isEmpty }

    /// The memory of the details.
    var bytes: Int { members.reduce(0) { $0 + MemoryLayout<Member>.stride + ($1.value.string?.utf8.count ?? 0) } }

    package subscript(detail: TaskDetail) -> JSONValue? {
        get { members.first { $0.detail == detail }?.value }
        set {
            members.removeAll { $0.detail == detail }
            guard let newValue else { return }
            let index = members.firstIndex { $0.detail.rawValue > detail.rawValue } ?? members.endIndex
            members.insert(Member(detail: detail, value: newValue), at: index)
        }
    }

    /// The members of a task's JSON, each after a comma: only what is set, so that a task without details is shown as
    /// it always was.
    var json: [UInt8] {
        guard !isEmpty else { return [] }
        return members.reduce(into: []) { bytes, member in
            bytes += ",\"\(member.detail.name)\":".utf8
            member.value.append(to: &bytes)
        }
    }
}

extension TaskDetails: Equatable {
    /// Whether both are shown alike, byte for byte; Swift's equality of strings treats NFC and NFD as equal.
    package static func == (left: TaskDetails, right: TaskDetails) -> Bool { left.json == right.json }
}

/// A change of the details of a task.
package struct TaskDetailsChange: Sendable, Equatable {
    package private(set) var values = TaskDetails()
    private var removed: Set<TaskDetail> = []

    package init() {}

    /// Sets a detail to a value, or removes it.
    package mutating func set(_ detail: TaskDetail, to value: JSONValue?) {
        values[detail] = value
        if value == nil { removed.insert(detail) } else { removed.remove(detail) }
    }

    /// Whether the change sets or removes a detail.
    package func concerns(_ detail: TaskDetail) -> Bool { values[detail] != nil || removed.contains(detail) }

    package func applied(to old: TaskDetails) -> TaskDetails {
        var details = old
        for member in values.members { details[member.detail] = member.value }
        for detail in removed { details[detail] = nil }
        return details
    }
}
