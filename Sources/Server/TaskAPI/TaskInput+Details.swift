import Basics
import HTTP
import JSON
import Tasks

extension TaskInput {
    /// The details that the fields name: null, and an empty field of a form, stand for none.
    ///
    /// A value of another form is refused, also in a new task; the fields of the sample servers are ignored then.
    func details() throws(APIFailure) -> TaskDetailsChange {
        var change = TaskDetailsChange()
        for field in fields {
            for detail in TaskDetail.allCases where field.name.isEqualIgnoringCase(to: detail.name) {
                let earlier = change
                change.set(detail, to: try value(of: detail, field.value))
                // Another field of the same name, in another case or in a form, must say the same.
                guard !earlier.concerns(detail) || earlier == change else {
                    throw .input(.detail(name: detail.name, expected: "given once"))
                }
            }
        }
        return change
    }

    /// The value that a field gives a detail; nil for none.
    private func value(of detail: TaskDetail, _ given: JSONValue) throws(APIFailure) -> JSONValue? {
        if given == .null || isForm && given == .string("") { return nil }
        let json = isForm ? detail.kind.json(ofForm: given) : given
        // A flag is false by being absent.
        if case .flag = detail.kind, json == false { return nil }
        guard let value = detail.kind.checked(json) else {
            throw .input(.detail(name: detail.name, expected: detail.kind.expected))
        }
        return value
    }
}

extension DetailKind {
    /// The value that a refusal tells the client to send.
    fileprivate var expected: String {
        switch self {
        case .date: "a date that exists, such as 2026-11-30, or null"
        case .text(let longest): "a text of 1 to \(longest) bytes, or null"
        case .number(let greatest): "a number from -\(greatest) to \(greatest), or null"
        case .flag: "true or false"
        }
    }

    /// The value of a form's field, whose text is a number or a truth value as JSON has it.
    fileprivate func json(ofForm value: JSONValue) -> JSONValue {
        switch self {
        case .date, .text: value
        case .number, .flag: value.string.flatMap { try? JSONValue(parsing: Array($0.utf8)) } ?? .null
        }
    }
}
