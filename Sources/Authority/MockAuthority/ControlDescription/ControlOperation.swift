import JSON

/// One control, as the OpenAPI file describes it.
struct ControlOperation: Sendable {
    /// In upper case.
    let method: String
    /// With the parts in braces of the route table.
    let path: String
    let summary: String
    /// Of the query, beside those that every control has.
    var parameters: [ControlMember] = []
    /// The members of the JSON object that is sent; empty where none is.
    var body: [ControlMember] = []
    /// A request that works with the configuration without a file: its target, and its body.
    let example: (target: String, body: String)
    let answer: ControlAnswer
}

/// A member of a JSON object, or a parameter of a query.
struct ControlMember: Sendable {
    let name: String
    let type: ControlType
    let text: String
    var isRequired = false

    init(_ name: String, _ type: ControlType, _ text: String, isRequired: Bool = false) {
        self.name = name
        self.type = type
        self.text = text
        self.isRequired = isRequired
    }
}

/// The type of a value.
///
/// Only one case is indirect: an enum of boxes keeps its case in bits of their addresses, and a leak checker then takes what
/// only global constants refer to for leaked.
enum ControlType: Sendable {
    case text, truth, any
    case number(ClosedRange<Int64>)
    case choice([String])
    case texts
    case object([ControlMember])
    indirect case list(ControlType)
    /// An object whose members are not known beforehand.
    case members
}

/// What a request is answered with when it succeeds.
enum ControlAnswer: Sendable {
    /// 204.
    case nothing
    /// 200, `application/json`.
    case json(String, ControlType)
    /// 200: the text, or with `Accept: application/json` the JSON.
    case textOrJSON(String, ControlType)
}
