import Basics
import Tasks

/// A change of a task as a request gives it: each value perhaps under two names.
///
/// A client that sends back a task as it read it changes one name and leaves the other (`{...task, completed: true}`), so
/// of two names that disagree, the one that differs from the stored value counts.
struct GivenChange: Sendable {
    /// Under `task` and `Text`.
    var text: TwoNames<TaskText>
    /// Under `completed` and `Completed`.
    var completed: TwoNames<Bool>
    var details: TaskDetailsChange
    /// The `DateModified` of a task that is sent back.
    var modified: String?

    /// Whether only the stored task decides what the change is.
    var needsTask: Bool { text.disagree || completed.disagree }

    /// The change of this task; of a change that ``needsTask``, nil changes only what is certain.
    func change(of task: TaskItem?) throws(APIFailure) -> TaskChange {
        var isOlder = false
        if let task, let modified {
            isOlder = !Timestamp(milliseconds: task.modified).text.isSame(as: modified)
        }
        return TaskChange(
            text: try text.value(stored: task?.text, isOlder: isOlder),
            completed: try completed.value(stored: task?.completed, isOlder: isOlder), details: details)
    }
}

/// A value under the name for new clients and under the one for old clients (docs/clients.md, "Answers").
struct TwoNames<Value: Equatable & Sendable>: Sendable {
    let name: String
    let oldName: String
    private(set) var new: Value?
    private(set) var old: Value?

    init(_ name: String, or oldName: String) {
        (self.name, self.oldName) = (name, oldName)
    }

    /// Whether the value is given under any name.
    var isGiven: Bool { new != nil || old != nil }

    /// Whether both names are given, with different values.
    var disagree: Bool { new != nil && old != nil && new != old }

    /// Takes a value; a name that is given again, in another case or in a form, must say the same.
    mutating func take(_ value: Value, isNew: Bool) throws(APIFailure) {
        guard (isNew ? new : old) ?? value == value else {
            throw .input(.field(name: isNew ? name : oldName, expected: "given once"))
        }
        if isNew { new = value } else { old = value }
    }

    /// The value that counts.
    ///
    /// Of a copy that is older than the task, the old name never counts alone: the change may be one that is repeated
    /// because its answer was lost, and the old name would take it back.
    func value(stored: Value?, isOlder: Bool) throws(APIFailure) -> Value? {
        guard let new, let old, new != old else { return new ?? old }
        guard let stored else { return nil }
        if old == stored { return new }
        if new == stored { return isOlder ? new : old }
        throw .input(
            .field(name: name, expected: "the same as \(oldName), or one of the two as stored; send one of the two"))
    }
}
