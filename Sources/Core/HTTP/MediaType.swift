import Basics

/// A media type, as `Content-Type` names it (RFC 9110 section 8.3).
package struct MediaType: Sendable, Equatable {
    /// The type and subtype in lower case, without parameters: `application/json`.
    package let name: String
    private let field: FieldParameters

    /// Reads a field value; nil if there is no type with a subtype.
    package init?(_ value: String) {
        field = FieldParameters(value.utf8)
        guard Self.isType(field.value.utf8.span) else { return nil }
        name = field.value.lowercasedASCII
    }

    /// Returns whether these are two tokens with a slash between them.
    private static func isType(_ bytes: Span<UInt8>) -> Bool {
        guard let slash = bytes.next(UInt8(ascii: "/"), from: 0) else { return false }
        return bytes.extracting(..<slash).isToken && bytes.extracting((slash + 1)...).isToken
    }

    /// The text between the parts of a multipart body.
    package var boundary: String? { field["boundary"] }
    /// The character encoding in lower case, if one is named.
    package var charset: String? { field["charset"]?.lowercasedASCII }
}

extension RequestHead {
    /// The media type of the body; nil if it is missing or malformed.
    package var contentType: MediaType? { headers["Content-Type"].flatMap(MediaType.init) }
}

extension UInt8 {
    /// Whether this is allowed in a token (RFC 9110 section 5.6.2).
    @inlinable package var isTokenCharacter: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        case UInt8(ascii: "!"), UInt8(ascii: "#")...UInt8(ascii: "'"), UInt8(ascii: "*"), UInt8(ascii: "+"),
            UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "^")...UInt8(ascii: "`"), UInt8(ascii: "|"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }
}

extension Span<UInt8> {
    /// Whether this is a token (RFC 9110 section 5.6.2), as the names of fields are.
    @inlinable package var isToken: Bool {
        for index in indices where !self[index].isTokenCharacter { return false }
        return !isEmpty
    }
}

/// A field value of the form `value; name=value; name="value"` (RFC 9110 section 5.6.6).
struct FieldParameters: Sendable, Equatable {
    /// The text before the first semicolon, without blanks around it.
    let value: String
    /// The bytes after the value, in which parameters are read when they are asked for.
    private let rest: ArraySlice<UInt8>

    init(_ field: some Sequence<UInt8>) {
        var bytes = Array(field)[...]
        value = String(lenient: Array(bytes.removePrefix { $0 != UInt8(ascii: ";") }.trimmingBlanks))
        rest = bytes
    }

    /// The parameters in order, names in lower case; all after a malformed one, or after the sixteenth, are left out.
    var parameters: [RequestTarget.Argument] {
        var (rest, parameters) = (rest, [RequestTarget.Argument]())
        while parameters.count < 16, let parameter = rest.removeParameter() { parameters.append(parameter) }
        return parameters
    }

    subscript(name: String) -> String? { parameters[name] }
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
