package import JSON

/// The details that a task has; most tasks have none, and then this takes no memory.
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
        var writer = JSONWriter()
        for member in members {
            writer.raw(",")
            writer.string(member.detail.name)
            writer.raw(":")
            writer.value(member.value)
        }
        return writer.bytes
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

    /// The details after the change.
    package func applied(to old: TaskDetails) -> TaskDetails {
        var details = old
        for member in values.members { details[member.detail] = member.value }
        for detail in removed { details[detail] = nil }
        return details
    }
}
