import Basics

/// Builds one line of JSON as UTF-8 bytes, without an intermediate value.
///
/// The caller is responsible for the order of calls; ``JSONValue/serialized()`` is the safe way for whole values.
package struct JSONWriter: Sendable {
    package private(set) var bytes: [UInt8] = []

    /// Creates an empty text with room for this many bytes.
    package init(capacity: Int = 256) {
        bytes.reserveCapacity(capacity)
    }

    /// Appends text that is JSON already: punctuation, names known to need no escape.
    package mutating func raw(_ json: StaticString) {
        json.withUTF8Buffer { unsafe bytes.append(contentsOf: $0) }
    }

    package mutating func integer(_ number: Int64) {
        bytes.append(contentsOf: String(number).utf8)
    }

    package mutating func boolean(_ value: Bool) {
        raw(value ? "true" : "false")
    }

    /// Appends a string in quotes; escapes what RFC 8259 section 7 requires and nothing else.
    package mutating func string(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        JSONEscapedText(text).append(to: &bytes)
        bytes.append(UInt8(ascii: "\""))
    }

    package mutating func value(_ value: JSONValue) {
        switch value {
        case .null: raw("null")
        case .boolean(let truth): boolean(truth)
        case .integer(let number): integer(number)
        case .real(let number): bytes.append(contentsOf: number.isFinite ? "\(number)".utf8 : "null".utf8)
        case .string(let text): string(text)
        case .array(let elements): array(elements)
        case .object(let object): members(object.members)
        }
    }

    private mutating func array(_ elements: [JSONValue]) {
        raw("[")
        for (index, element) in elements.enumerated() {
            if index > 0 { raw(",") }
            value(element)
        }
        raw("]")
    }

    private mutating func members(_ members: [JSONObject.Member]) {
        raw("{")
        for (index, member) in members.enumerated() {
            if index > 0 { raw(",") }
            string(member.name)
            raw(":")
            value(member.value)
        }
        raw("}")
    }
}

extension JSONValue {
    /// Returns the value as one line of UTF-8 without white space, with its members in their order.
    package func serialized() -> [UInt8] {
        var writer = JSONWriter()
        writer.value(self)
        return writer.bytes
    }
}
