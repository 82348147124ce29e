import Basics
import HTTP
import JSON
import Tasks

extension TaskInput {
    /// The details that the fields name: null, and an empty field of a form, stand for none.
    ///
    /// Unlike the fields of the sample servers they are strict, also in a new task: a value of another form is refused and
    /// not ignored.
    func details() throws(APIFailure) -> TaskDetailsChange {
        var change = TaskDetailsChange()
        for field in fields {
            if field.name.isEqualIgnoringCase(to: "due") {
                change.due = try change.due.agreeing(
                    "due",
                    try member("due", field.value, "a date that exists, such as 2026-11-30, or null") {
                        $0.string.flatMap { DueDate($0) }
                    })
            } else if field.name.isEqualIgnoringCase(to: "notes") {
                change.notes = try change.notes.agreeing(
                    "notes",
                    try member("notes", field.value, "a text of 1 to \(TaskNotes.longest) bytes, or null") {
                        $0.string.flatMap { try? TaskNotes($0) }
                    })
            } else if field.name.isEqualIgnoringCase(to: "position") {
                let greatest = Int64(TaskPosition.greatest)
                change.position = try change.position.agreeing(
                    "position",
                    try member("position", field.value, "a number from -\(greatest) to \(greatest), or null") {
                        position($0)
                    })
            }
        }
        return change
    }

    /// The value of a field, or that there is none.
    private func member<Value>(
        _ name: String, _ value: JSONValue, _ expected: String, _ convert: (JSONValue) -> Value?
    ) throws(APIFailure) -> TaskDetailsChange.Member<Value> {
        if value == .null || isForm && value == .string("") { return .set(nil) }
        guard let converted = convert(value) else { throw .input(.detail(name: name, expected: expected)) }
        return .set(converted)
    }

    /// In a form a number as JSON has it.
    private func position(_ value: JSONValue) -> TaskPosition? {
        guard isForm, case .string(let text) = value else { return TaskPosition(json: value) }
        return (try? JSONValue(parsing: Array(text.utf8))).flatMap { TaskPosition(json: $0) }
    }
}

extension TaskDetailsChange.Member {
    /// This one after another field of the same name, in another case or in a form, which must say the same.
    fileprivate func agreeing(_ name: String, _ given: Self) throws(APIFailure) -> Self {
        guard self == .keep || self == given else { throw .input(.detail(name: name, expected: "given once")) }
        return given
    }
}
