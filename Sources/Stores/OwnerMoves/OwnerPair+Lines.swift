import Basics

extension OwnerPair {
    /// The longest line of a map, in bytes: two owners, with every byte in them doubled, and what is around them.
    private static let longestLine = 4096

    /// A line of comma-separated values: `old,new`; a field may be in quotation marks, which are doubled in it (RFC 4180).
    init(separatedByComma line: [UInt8]) throws(OperatorError) {
        guard line.count <= Self.longestLine else { throw OperatorError("longer than \(Self.longestLine) bytes") }
        let fields = try Self.fields(of: line)
        guard fields.count == 2 else {
            throw OperatorError("not two columns, the old owner, a comma and the new owner")
        }
        try self.init(old: fields[0], new: fields[1])
    }

    /// Whether a line is the head of such a table: `old,new`.
    static func isHead(_ line: [UInt8]) -> Bool {
        guard let fields = try? fields(of: line) else { return false }
        return fields.map(\.lowercasedASCII) == ["old", "new"]
    }

    private static func fields(of line: [UInt8]) throws(OperatorError) -> [String] {
        var fields: [String] = []
        var rest = line[...]
        while true {
            fields.append(try takeField(&rest))
            guard let separator = rest.popFirst() else { return fields }
            guard separator == UInt8(ascii: ",") else { throw OperatorError("text after a closing quotation mark") }
        }
    }

    /// Takes a field, and leaves the comma after it.
    private static func takeField(_ rest: inout ArraySlice<UInt8>) throws(OperatorError) -> String {
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
        throw OperatorError("no closing quotation mark")
    }

    private static func text(_ bytes: ArraySlice<UInt8>) throws(OperatorError) -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else { throw OperatorError("no UTF-8") }
        return text
    }
}
