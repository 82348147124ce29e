import Basics

/// A field value of the form `value; name=value; name="value"` (RFC 9110 section 5.6.6).
struct FieldParameters: Sendable, Equatable {
    /// The text before the first semicolon, without blanks around it.
    let value: String
    /// The parameters in order, names in lower case; all after a malformed one, or after the sixteenth, are left out.
    let parameters: [RequestTarget.Argument]

    subscript(name: String) -> String? { parameters[name] }
}

extension FieldParameters {
    /// Reads the bytes of a field value.
    init(_ field: some Sequence<UInt8>) {
        var bytes = Array(field)[...]
        let value = String(lenient: Array(bytes.removePrefix { $0 != UInt8(ascii: ";") }.trimmingBlanks))
        var parameters: [RequestTarget.Argument] = []
        while parameters.count < 16, let parameter = bytes.removeParameter() { parameters.append(parameter) }
        self.init(value: value, parameters: parameters)
    }
}

extension ArraySlice<UInt8> {
    fileprivate mutating func removePrefix(while condition: (UInt8) -> Bool) -> ArraySlice<UInt8> {
        let prefix = prefix(while: condition)
        self = self[prefix.endIndex...]
        return prefix
    }

    /// Takes `; name=value` from the front; nil at the end, or if anything else comes first.
    fileprivate mutating func removeParameter() -> RequestTarget.Argument? {
        _ = removePrefix { $0.isBlank || $0 == UInt8(ascii: ";") }
        let name = removePrefix { $0 != UInt8(ascii: "=") && $0 != UInt8(ascii: ";") }.trimmingBlanks
        guard !name.isEmpty, first == UInt8(ascii: "=") else { return nil }
        removeFirst()
        let lowered = String(lenient: name.map(\.lowercasedASCII))
        guard first == UInt8(ascii: "\"") else {
            let value = removePrefix { $0 != UInt8(ascii: ";") }.trimmingBlanks
            return RequestTarget.Argument(name: lowered, value: String(lenient: Array(value)))
        }
        removeFirst()
        return removeQuotedRest().map { RequestTarget.Argument(name: lowered, value: String(lenient: $0)) }
    }

    /// Takes the rest of a quoted string, with its closing quote; nil without a closing quote.
    private mutating func removeQuotedRest() -> [UInt8]? {
        var value: [UInt8] = []
        while let byte = popFirst() {
            if byte == UInt8(ascii: "\"") { return value }
            if byte == UInt8(ascii: "\\"), let quoted = popFirst() { value.append(quoted) } else { value.append(byte) }
        }
        return nil
    }
}
