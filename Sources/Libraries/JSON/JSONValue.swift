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
    /// One name and its value.
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
    package init(dictionaryLiteral elements: (String, JSONValue)...) { self = .object(JSONObject(elements)) }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
    package init(dictionaryLiteral elements: (String, JSONValue)...) { self.init(elements) }
}
