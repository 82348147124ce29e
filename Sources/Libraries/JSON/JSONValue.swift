/// A JSON value (RFC 8259).
///
/// Numbers keep the difference that matters to readers of tokens and bodies: a number written without fraction and
/// exponent is an ``integer(_:)``, any other a finite ``real(_:)``.
package enum JSONValue: Sendable, Equatable {
    case null
    case boolean(Bool)
    case integer(Int64)
    case real(Double)
    case string(String)
    case array([JSONValue])
    case object(JSONObject)
}

/// The members of a JSON object, in their order; names are unique.
package struct JSONObject: Sendable, Equatable {
    package struct Member: Sendable, Equatable {
        /// The name, unescaped.
        package let name: String
        package let value: JSONValue

        package init(name: String, value: JSONValue) {
            self.name = name
            self.value = value
        }
    }

    package private(set) var members: [Member]

    /// Creates an object; of a name that is given twice, the first value is kept.
    package init(_ members: [(String, JSONValue)] = []) {
        self.members = []
        for (name, value) in members where !contains(name) {
            self.members.append(Member(name: name, value: value))
        }
    }

    init(unique members: [Member]) {
        self.members = members
    }

    /// The value under a name, compared byte by byte: Swift's own equality would take NFC for NFD.
    package subscript(name: String) -> JSONValue? {
        get { members.first { $0.name.utf8.elementsEqual(name.utf8) }?.value }
        set {
            let index = members.firstIndex { $0.name.utf8.elementsEqual(name.utf8) }
            switch (index, newValue) {
            case (let index?, let value?): members[index] = Member(name: name, value: value)
            case (let index?, nil): members.remove(at: index)
            case (nil, let value?): members.append(Member(name: name, value: value))
            case (nil, nil): break
            }
        }
    }

    package func contains(_ name: String) -> Bool {
        self[name] != nil
    }
}

extension JSONValue {
    package var string: String? {
        guard case .string(let text) = self else { return nil }
        return text
    }

    /// The number, if it was written as an integer.
    package var integer: Int64? {
        guard case .integer(let number) = self else { return nil }
        return number
    }

    /// The number, however it was written.
    package var number: Double? {
        switch self {
        case .integer(let number): Double(number)
        case .real(let number): number
        case .null, .boolean, .string, .array, .object: nil
        }
    }

    package var boolean: Bool? {
        guard case .boolean(let value) = self else { return nil }
        return value
    }

    package var array: [JSONValue]? {
        guard case .array(let elements) = self else { return nil }
        return elements
    }

    package var object: JSONObject? {
        guard case .object(let object) = self else { return nil }
        return object
    }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    package init(stringLiteral value: String) { self = .string(value) }
    package init(integerLiteral value: Int64) { self = .integer(value) }
    package init(booleanLiteral value: Bool) { self = .boolean(value) }
    package init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    package init(dictionaryLiteral elements: (String, JSONValue?)...) { self = .object(JSONObject(present: elements)) }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
    /// Creates an object without the members whose value is nil.
    package init(dictionaryLiteral elements: (String, JSONValue?)...) { self.init(present: elements) }

    fileprivate init(present members: [(String, JSONValue?)]) {
        self.init(members.compactMap { name, value in value.map { (name, $0) } })
    }
}

/// Why bytes are not the expected JSON.
package enum JSONError: Error, Equatable, Sendable {
    /// The text is longer than the limit, or has more values.
    case tooLong
    /// The text is nested deeper than the limit.
    case tooDeep
    /// The text breaks RFC 8259 at this byte, for this reason.
    case malformed(reason: String, offset: Int)
}

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
    /// A byte-order mark before it is skipped (RFC 8259 section 8.1), because editors and PowerShell write one. Nothing
    /// traps on any input (V-20, V-148).
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
