/// A JSON value as RFC 8259 has it.
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

/// The members of a JSON object, in the order in which they stood; names are unique.
package struct JSONObject: Sendable, Equatable {
    /// One name and its value.
    package struct Member: Sendable, Equatable {
        /// The name, unescaped.
        package let name: String
        /// The value under that name.
        package let value: JSONValue

        /// A member of this name and value.
        package init(name: String, value: JSONValue) {
            self.name = name
            self.value = value
        }
    }

    /// The members in their order.
    package private(set) var members: [Member]

    /// An object of these members; for a name given twice, the first stands.
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

    /// Whether there is a member of this name.
    package func contains(_ name: String) -> Bool {
        self[name] != nil
    }
}

extension JSONValue {
    /// The text of a string, else nothing.
    package var string: String? {
        guard case .string(let text) = self else { return nil }
        return text
    }

    /// The number, if it was written as an integer.
    package var integer: Int64? {
        guard case .integer(let number) = self else { return nil }
        return number
    }

    /// The truth value, else nothing.
    package var boolean: Bool? {
        guard case .boolean(let value) = self else { return nil }
        return value
    }

    /// The elements of an array, else nothing.
    package var array: [JSONValue]? {
        guard case .array(let elements) = self else { return nil }
        return elements
    }

    /// The members of an object, else nothing.
    package var object: JSONObject? {
        guard case .object(let object) = self else { return nil }
        return object
    }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// A string value.
    package init(stringLiteral value: String) { self = .string(value) }
    /// An integer value.
    package init(integerLiteral value: Int64) { self = .integer(value) }
    /// A truth value.
    package init(booleanLiteral value: Bool) { self = .boolean(value) }
    /// An array of these elements.
    package init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    /// An object of these members, in this order.
    package init(dictionaryLiteral elements: (String, JSONValue)...) { self = .object(JSONObject(elements)) }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
    /// An object of these members, in this order.
    package init(dictionaryLiteral elements: (String, JSONValue)...) { self.init(elements) }
}
