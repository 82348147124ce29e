import Basics
import JSON

extension OwnerPair {
    /// The longest line of a map, in bytes: two owners and what is around them, all of it escaped.
    static let longestLine = 4096

    /// A line of comma-separated values: `old,new`; a field may be in quotation marks, which are doubled in it (RFC 4180).
    init(separatedByComma line: [UInt8]) throws(Fault) {
        let fields = try Self.fields(of: line)
        guard fields.count == 2 else {
            throw Fault(reason: "not two columns, the old owner, a comma and the new owner")
        }
        try self.init(old: fields[0], new: fields[1])
    }

    /// Whether a line is the head of such a table: `old,new`.
    static func isHead(_ line: [UInt8]) -> Bool {
        guard let fields = try? fields(of: line) else { return false }
        return fields.map(\.lowercasedASCII) == ["old", "new"]
    }

    /// A line of JSON: `{"old":"…","new":"…"}`, with no other member.
    init(json line: [UInt8]) throws(Fault) {
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONValue(parsing: line, limits: JSONLimits(bytes: Self.longestLine, depth: 2, values: 3))
        } catch {
            throw Fault(reason: #"no JSON object with the members "old" and "new" only"#)
        }
        guard let object = value.object, object.members.count == 2, let old = object["old"]?.string,
            let new = object["new"]?.string
        else { throw Fault(reason: #"no JSON object with the texts "old" and "new" only"#) }
        try self.init(old: old, new: new)
    }

    private static func fields(of line: [UInt8]) throws(Fault) -> [String] {
        var fields: [String] = []
        var rest = line[...]
        while true {
            fields.append(try takeField(&rest))
            guard let separator = rest.popFirst() else { return fields }
            guard separator == UInt8(ascii: ",") else { throw Fault(reason: "text after a closing quotation mark") }
        }
    }

    /// Takes a field, and leaves the comma after it.
    private static func takeField(_ rest: inout ArraySlice<UInt8>) throws(Fault) -> String {
        let quote = UInt8(ascii: "\"")
        guard rest.first == quote else {
            let field = rest.prefix { $0 != UInt8(ascii: ",") }
            rest = rest[field.endIndex...]
            return try text(field)
        }
        rest.removeFirst()
        var field: [UInt8] = []
        while let end = rest.firstIndex(of: quote) {
            field += rest[..<end]
            rest = rest[(end + 1)...]
            guard rest.first == quote else { return try text(field[...]) }
            field.append(quote)
            rest.removeFirst()
        }
        throw Fault(reason: "no closing quotation mark")
    }

    private static func text(_ bytes: ArraySlice<UInt8>) throws(Fault) -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else { throw Fault(reason: "no UTF-8") }
        return text
    }
}
