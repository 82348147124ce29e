import Basics
import JSON

extension JSONValue {
    /// The value for people: a member on each line, indented by two spaces a level.
    var indentedText: String { indented("") }

    private func indented(_ indent: String) -> String {
        let inner = indent + "  "
        switch self {
        case .object(let object) where !object.members.isEmpty:
            let lines = object.members.map { "\(inner)\(JSONValue.string($0.name).line): \($0.value.indented(inner))" }
            return "{\n\(lines.joined(separator: ",\n"))\n\(indent)}"
        case .array(let elements) where elements.contains { $0.isNested }:
            let lines = elements.map { inner + $0.indented(inner) }
            return "[\n\(lines.joined(separator: ",\n"))\n\(indent)]"
        case .array(let elements): return "[\(elements.map(\.line).joined(separator: ", "))]"
        case .null, .boolean, .integer, .real, .string, .object: return line
        }
    }

    private var isNested: Bool { object != nil || array != nil }

    /// The value on one line.
    private var line: String { String(decoding: serialized(), as: UTF8.self) }
}
