import Basics
import HTTP
import JSON
import Tasks

/// The fields that a request gives, by path, query or body, whatever the encoding.
///
/// Names are compared without case, as the sample servers did (docs/internals/clients.md, "Bodies"). Of two names of one value,
/// ``text()`` takes the first, and ``change()`` keeps both.
struct TaskInput {
    typealias Field = JSONObject.Member

    private(set) var fields: [Field] = []
    /// Whether all values are texts, of which an empty one stands for nothing.
    private(set) var isForm = false
    /// Whether the body looks like JSON and its type says form: `curl -d '{...}'` does that.
    private(set) var looksLikeJSON = false

    /// Takes the arguments of a query, which have no U+0000: the server refuses such a target.
    init(query: [RequestTarget.Argument]) {
        fields = query.map { Field(name: $0.name, value: .string($0.value)) }
    }

    /// Reads the fields of a body, of the type that the head names; U+0000 in a name or a value is refused.
    init(body: [UInt8], head: RequestHead) throws(APIFailure) {
        guard !body.isEmpty else { return }
        try read(body, head)
        try refuseNUL()
    }

    /// Takes the members of an object; U+0000 in a value is refused.
    init(_ object: JSONObject) throws(APIFailure) {
        fields = object.members
        try refuseNUL()
    }

    private func refuseNUL() throws(APIFailure) {
        guard !fields.contains(where: { $0.name.containsNUL || $0.value.containsNUL }) else {
            throw .input(.text(.containsNUL))
        }
    }

    private mutating func read(_ body: [UInt8], _ head: RequestHead) throws(APIFailure) {
        guard let field = head.headers["Content-Type"] else {
            try read(form: body)
            return
        }
        let type = MediaType(field)
        switch type?.name {
        case "application/json", "application/merge-patch+json": try read(json: body)
        case "application/x-www-form-urlencoded": try read(form: body)
        case "multipart/form-data": try read(multipart: body, boundary: type?.boundary)
        case nil, .some: throw .input(.unsupportedMediaType)
        }
    }

    private mutating func read(json body: [UInt8]) throws(APIFailure) {
        // A task has a handful of members, and 64 KiB of small values would keep the loop for milliseconds.
        guard let object = try Self.json(body, values: 1000).object else { throw .input(.malformedJSON(offset: 0)) }
        fields = object.members
    }

    /// The JSON of a body with at most this many values.
    static func json(_ body: [UInt8], values: Int) throws(APIFailure) -> JSONValue {
        do {
            return try JSONValue(
                parsing: asUTF8(body), limits: JSONLimits(bytes: 2 * body.count, depth: 32, values: values))
        } catch .malformed(_, let offset) {
            throw .input(.malformedJSON(offset: offset))
        } catch {
            throw .input(.malformedJSON(offset: nil))
        }
    }

    private mutating func read(form body: [UInt8]) throws(APIFailure) {
        isForm = true
        fields = try Self.reading { () throws(FormError) in
            try FormURLEncoded.parse(body).fields.map { Field(name: $0.name, value: .string($0.value)) }
        }
        looksLikeJSON = body.first == UInt8(ascii: "{")
    }

    private mutating func read(multipart body: [UInt8], boundary: String?) throws(APIFailure) {
        guard let boundary else { throw .input(.malformedForm) }
        isForm = true
        fields = try Self.reading { () throws(FormError) in
            try MultipartForm.parse(body, boundary: boundary).parts.map {
                Field(name: $0.name, value: .string($0.text))
            }
        }
    }

    private static func reading(_ form: () throws(FormError) -> [Field]) throws(APIFailure) -> [Field] {
        try rethrowing(as: { APIFailure.input($0 == .tooMany ? .tooManyFormFields : .malformedForm) }, form)
    }

    /// Bytes that are not UTF-8 are read as Latin-1: the Android client writes the low byte of each character.
    private static func asUTF8(_ body: [UInt8]) -> [UInt8] {
        do {
            _ = try UTF8Span(validating: body.span)
            return body
        } catch {
            return Array(String(latin1: body).utf8)
        }
    }
}

extension TaskInput {
    /// The change that the fields ask for, as a merge patch (RFC 7396): a value that is not named stays, and so does one
    /// that no task can be without and that is null, as code writes it that is generated from the contract.
    ///
    /// Of two names of one value that disagree, the stored task decides (``TaskChange/decided(by:)``).
    /// `completedOn` is at most a day from the day of UTC at `time`, as each day is where a person is.
    func change(at time: Int64) throws(APIFailure) -> TaskChange {
        var text = TwoNames<TaskText>("task", or: "Text")
        var completed = TwoNames<Bool>("completed", or: "Completed")
        var modified: String?
        for field in fields where field.value != .null {
            if Self.isTextName(field.name) {
                guard let value = try Self.text(of: field) else {
                    throw .input(.field(name: "task", expected: "a text of 1 to 4096 bytes"))
                }
                try text.take(value, isNew: field.name.isEqualIgnoringCase(to: "task"))
            } else if field.name.isEqualIgnoringCase(to: "completed") {
                guard let value = Self.truth(of: field) else {
                    throw .input(.field(name: "completed", expected: "true or false"))
                }
                try completed.take(value, isNew: field.name.isSame(as: "completed"))
            } else if field.name.isEqualIgnoringCase(to: "DateModified") {
                modified = field.value.string
            }
        }
        var change = TaskChange(
            text: text.new ?? text.old, completed: completed.new ?? completed.old,
            details: try details(removing: removedDetails()))
        change.completedOn = try completedOn(at: time)
        if text.disagree || completed.disagree {
            change.oldNames = TaskChange.OldNames(text: text.old, completed: completed.old, modified: modified)
        }
        return change
    }

    private func completedOn(at time: Int64) throws(APIFailure) -> CivilDate? {
        let today = CivilDate(at: time).daysSince1970
        for field in fields where field.name.isEqualIgnoringCase(to: "completedOn") && field.value != .null {
            guard let day = field.value.string.flatMap({ CivilDate($0) }), abs(day.daysSince1970 - today) <= 1 else {
                throw .input(.detail(name: "completedOn", expected: "a date, at most a day from today in UTC"))
            }
            return day
        }
        return nil
    }

    /// The first text given, under `task` or `Text`; empty ones do not count.
    func text() throws(APIFailure) -> TaskText? {
        for field in fields where Self.isTextName(field.name) {
            if let text = try Self.text(of: field) { return text }
        }
        return nil
    }

    /// All texts given, under `task` or `Text`, without the empty ones.
    func texts() throws(APIFailure) -> [TaskText] {
        var texts: [TaskText] = []
        for field in fields where Self.isTextName(field.name) {
            if let text = try Self.text(of: field) { texts.append(text) }
        }
        return texts
    }

    /// Whether a new task is done already; a value that is no truth value is ignored, as the sample servers ignored
    /// it.
    func completed() -> Bool {
        fields.lazy.filter { $0.name.isEqualIgnoringCase(to: "completed") }.compactMap { Self.truth(of: $0) }.first
            ?? false
    }

    static func isTextName(_ name: String) -> Bool {
        name.isEqualIgnoringCase(to: "task") || name.isEqualIgnoringCase(to: "Text")
    }

    private static func text(of field: Field) throws(APIFailure) -> TaskText? {
        let given: String
        switch field.value {
        case .null: return nil
        case .string(let text): given = text
        case .integer(let number): given = String(number)
        case .real(let number): given = "\(number)"
        case .boolean(let value): given = value ? "true" : "false"
        case .array, .object: throw .input(.field(name: "task", expected: "a text, not a list or an object"))
        }
        return given.isEmpty ? nil : try TaskText(given: given)
    }

    private static func truth(of field: Field) -> Bool? {
        switch field.value {
        case .boolean(let value): value
        case .string(let text) where text.isEqualIgnoringCase(to: "true"): true
        case .string(let text) where text.isEqualIgnoringCase(to: "false"): false
        case .string, .null, .integer, .real, .array, .object: nil
        }
    }
}

extension TaskText {
    init(given text: String) throws(APIFailure) {
        self = try rethrowing(as: { APIFailure.input(.text($0)) }) { () throws(Failure) in try TaskText(text) }
    }
}

extension JSONValue {
    /// Whether a text in the value, however deep, has U+0000, which the reader refuses in names.
    fileprivate var containsNUL: Bool {
        switch self {
        case .string(let text): text.containsNUL
        case .array(let elements): elements.contains { $0.containsNUL }
        case .object(let object): object.members.contains { $0.value.containsNUL }
        case .null, .boolean, .integer, .real: false
        }
    }
}

/// A value under the name for new clients and under the one for old clients (docs/internals/clients.md, "Answers").
private struct TwoNames<Value: Equatable> {
    let name: String
    let oldName: String
    private(set) var new: Value?
    private(set) var old: Value?

    init(_ name: String, or oldName: String) { (self.name, self.oldName) = (name, oldName) }

    /// Whether both names are given, with different values.
    var disagree: Bool { new != nil && old != nil && new != old }

    /// Takes a value; a name that is given again, in another case or in a form, must say the same.
    mutating func take(_ value: Value, isNew: Bool) throws(APIFailure) {
        guard (isNew ? new : old) ?? value == value else {
            throw .input(.field(name: isNew ? name : oldName, expected: "given once"))
        }
        if isNew { new = value } else { old = value }
    }
}

extension TaskInput {
    /// The details that the fields name: null, and an empty field of a form, stand for none; but where other details are
    /// named to be removed, null says nothing.
    ///
    /// A value of another form is refused, also in a new task; the fields of the sample servers are ignored then.
    func details(removing removed: [TaskDetail]? = nil) throws(APIFailure) -> TaskDetailsChange {
        var change = TaskDetailsChange()
        for field in fields where removed == nil || field.value != .null {
            for detail in TaskDetail.allCases where field.name.isEqualIgnoringCase(to: detail.name) {
                let earlier = change
                change.set(detail, to: try value(of: detail, field.value))
                // Another field of the same name, in another case or in a form, must say the same.
                guard !earlier.concerns(detail) || earlier == change else {
                    throw .input(.detail(name: detail.name, expected: "given once"))
                }
            }
        }
        for detail in removed ?? [] {
            guard change.values[detail] == nil else {
                throw .input(.detail(name: detail.name, expected: "left out, or not among remove"))
            }
            change.set(detail, to: nil)
        }
        return change
    }

    /// The details that JSON names in its member `remove`; nil if there is no such member.
    private func removedDetails() throws(APIFailure) -> [TaskDetail]? {
        guard !isForm, let field = fields.first(where: { $0.name.isSame(as: "remove") }) else { return nil }
        if field.value == .null { return [] }
        let details = field.value.array?.map { name in TaskDetail.allCases.first { .string($0.name) == name } }
        guard let found = details?.compactMap(\.self), found.count == details?.count else {
            throw .input(.detail(name: "remove", expected: "a list of names of details, such as [\"due\"]"))
        }
        return found
    }

    /// The value that a field gives a detail; nil for none.
    private func value(of detail: TaskDetail, _ given: JSONValue) throws(APIFailure) -> JSONValue? {
        if given == .null || isForm && given == .string("") { return nil }
        let json = isForm ? detail.kind.json(ofForm: given) : given
        // A flag is false by being absent.
        if case .flag = detail.kind, json == false { return nil }
        guard let value = detail.kind.checked(json) else {
            throw .input(.detail(name: detail.name, expected: detail.kind.expected(instead: json)))
        }
        return value
    }
}

extension DetailKind {
    /// What a refusal tells the client to send instead of a value.
    fileprivate func expected(instead value: JSONValue) -> String {
        switch self {
        case .date: "a date that exists, such as 2026-11-30, or null"
        case .text(let longest): "a text of 1 to \(longest) bytes, or null"
        case .number(let greatest): "a number from -\(greatest) to \(greatest), or null"
        case .flag: "true or false"
        case .rule:
            Self.mistake(in: value) + "a rule such as FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,FR, or null"
        }
    }

    /// What is to be different in a rule, before an example.
    private static func mistake(in value: JSONValue) -> String {
        do {
            _ = try value.string.map { text throws(RepeatRule.Mistake) in try RepeatRule(text) }
            return ""
        } catch { return "\(error.expected); " }
    }

    /// The value of a form's field, whose text is a number or a truth value as JSON has it.
    fileprivate func json(ofForm value: JSONValue) -> JSONValue {
        switch self {
        case .date, .text, .rule: value
        case .number, .flag: value.string.flatMap { try? JSONValue(parsing: Array($0.utf8)) } ?? .null
        }
    }
}
