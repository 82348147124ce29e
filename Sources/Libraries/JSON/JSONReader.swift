/// Why bytes are not the expected JSON.
package enum JSONError: Error, Equatable, Sendable {
    /// The text is longer than the limit, or has more values.
    case tooLong
    /// The text is nested deeper than the limit.
    case tooDeep
    /// The text breaks RFC 8259 at this byte, for this reason.
    case malformed(reason: String, offset: Int)
}

/// The limits of one reading.
package struct JSONLimits: Sendable, Equatable {
    /// The longest text, in bytes.
    package var bytes: Int
    /// The deepest nesting of arrays and objects; the reader recurses as deep.
    package var depth: Int
    /// The most values: 1, and one for each comma and each opening bracket.
    package var values: Int

    package init(bytes: Int = 1 << 20, depth: Int = 32, values: Int = .max) {
        self.bytes = bytes
        self.depth = depth
        self.values = values
    }
}

extension JSONValue {
    /// Reads one JSON text strictly: it has UTF-8 only, unique names, and nothing after the value.
    ///
    /// A byte-order mark before it is skipped (RFC 8259 section 8.1), because editors and PowerShell write one.
    ///
    /// - Parameters:
    ///   - bytes: the whole text.
    ///   - limits: the limits of the text (V-20, V-148).
    /// - Throws: ``JSONError``; nothing traps on any input.
    package init(parsing bytes: [UInt8], limits: JSONLimits = JSONLimits()) throws(JSONError) {
        var scanner = try JSONScanner(bytes, limits, allowsMark: true)
        self = try JSONValue(from: &scanner)
        try scanner.finish()
    }

    /// Reads the next value; the blanks before it were skipped.
    ///
    /// The reader recurses into arrays and objects, as deep as the limit allows.
    init(from scanner: inout JSONScanner) throws(JSONError) {
        switch scanner.next {
        case UInt8(ascii: "{"): self = .object(try JSONObject(from: &scanner))
        case UInt8(ascii: "["):
            var elements: [JSONValue] = []
            try scanner.open()
            while try scanner.findElement(isFirst: elements.isEmpty) { elements.append(try JSONValue(from: &scanner)) }
            self = .array(elements)
        default: self = try scanner.scalar().value(in: scanner.text)
        }
    }
}

extension JSONObject {
    /// Reads the object that begins here.
    fileprivate init(from scanner: inout JSONScanner) throws(JSONError) {
        var members: [JSONObject.Member] = []
        var names: [JSONName] = []
        try scanner.open()
        while let name = try scanner.findMember(isFirst: names.isEmpty) {
            names.append(name)
            members.append(.init(name: name.string.string(in: scanner.text), value: try JSONValue(from: &scanner)))
        }
        try scanner.checkUnique(names)
        self.init(unique: members)
    }
}
