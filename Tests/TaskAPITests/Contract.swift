import HTTP
import Support

/// `Public/openapi.yaml` as far as it is compared with the table of routes.
struct Contract {
    let version: String?
    let paths: [(path: String, operations: [Method: ContractOperation])]
    /// The regular expression that a value of `{id}` must match.
    let identifierPattern: String?

    init() throws {
        let contract = YAMLNode(String(decoding: try TestFile("../../Public/openapi.yaml").bytes(), as: UTF8.self))
        version = contract["info"]["version"].text
        identifierPattern = contract["components"]["parameters"]["id"]["schema"]["pattern"].text
        paths = contract["paths"].members.map { path, item in
            let operations = item.members.filter { $0.name != "parameters" }
                .map { (Method($0.name.uppercased()), ContractOperation($0.value)) }
            return (path, Dictionary(uniqueKeysWithValues: operations))
        }
    }
}

/// What the contract says of one method of a path.
struct ContractOperation: Equatable {
    /// References and names, in their order.
    let parameters: [String]
    let statuses: [String]
    let hasBody: Bool
    /// `security: []` takes back what the whole contract demands.
    let needsToken: Bool
    let scope: String?

    init(_ operation: YAMLNode) {
        parameters = operation["parameters"].elements.map { $0["$ref"].text ?? $0["name"].text ?? "" }
        statuses = operation["responses"].members.map(\.name)
        hasBody = !operation["requestBody"].members.isEmpty
        needsToken = operation["security"].text != "[]"
        scope = operation["x-scope"].text
    }
}

/// A value of YAML, in the part of it in which the contract is written; flow lists and maps are left as text.
indirect enum YAMLNode {
    case text(String)
    case list([YAMLNode])
    case map([(name: String, value: YAMLNode)])
    case nothing

    var text: String? {
        guard case .text(let text) = self else { return nil }
        return text
    }

    var elements: [YAMLNode] {
        guard case .list(let elements) = self else { return [] }
        return elements
    }

    var members: [(name: String, value: YAMLNode)] {
        guard case .map(let members) = self else { return [] }
        return members
    }

    subscript(name: String) -> YAMLNode { members.first { $0.name == name }?.value ?? .nothing }

    init(_ document: String) {
        let lines = document.split(separator: "\n").map { line in
            let content = line.drop { $0 == " " }
            return YAMLReader.Line(indent: line.count - content.count, content: content)
        }
        var reader = YAMLReader(lines: lines.filter { !$0.content.isEmpty && $0.content.first != "#" }[...])
        self = reader.block()
    }
}

private struct YAMLReader {
    struct Line {
        let indent: Int
        let content: Substring
    }

    var lines: ArraySlice<Line>

    /// The value that the next lines of the same indentation make.
    mutating func block() -> YAMLNode {
        guard let first = lines.first else { return .nothing }
        return first.content.hasPrefix("- ") ? list(first.indent) : map(first.indent)
    }

    private mutating func list(_ indent: Int) -> YAMLNode {
        var elements: [YAMLNode] = []
        while let line = lines.first, line.indent == indent, line.content.hasPrefix("- ") {
            let content = line.content.dropFirst(2)
            lines.removeFirst()
            guard content.contains(": ") || content.hasSuffix(":") else {
                elements.append(.text(Self.unquoted(content)))
                continue
            }
            // The dash counts as two spaces of the map that begins after it.
            lines = ([Line(indent: indent + 2, content: content)] + lines)[...]
            elements.append(map(indent + 2))
        }
        return .list(elements)
    }

    private mutating func map(_ indent: Int) -> YAMLNode {
        var members: [(name: String, value: YAMLNode)] = []
        while let line = lines.first, line.indent == indent, !line.content.hasPrefix("- ") {
            guard let colon = line.content.firstRange(of: ": ") ?? line.content.firstRange(of: ":") else { break }
            let name = Self.unquoted(line.content[..<colon.lowerBound])
            let rest = line.content[colon.upperBound...].drop { $0 == " " }
            lines.removeFirst()
            members.append((name, value(rest, indent)))
        }
        return .map(members)
    }

    private mutating func value(_ rest: Substring, _ indent: Int) -> YAMLNode {
        guard rest.isEmpty || [">", ">-", "|", "|-"].contains(rest) else { return .text(Self.unquoted(rest)) }
        guard let next = lines.first, next.indent > indent else { return .nothing }
        if rest.isEmpty { return block() }
        let text = lines.prefix { $0.indent > indent }
        lines = lines.dropFirst(text.count)
        return .text(text.map { String($0.content) }.joined(separator: " "))
    }

    private static func unquoted(_ text: Substring) -> String {
        guard text.count > 1, let quote = text.first, quote == text.last, quote == "'" || quote == "\"" else {
            return String(text)
        }
        return String(text.dropFirst().dropLast()).replacing("''", with: "'")
    }
}
