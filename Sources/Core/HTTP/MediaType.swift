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
        var slash: Int?
        for index in bytes.indices where !bytes[index].isTokenCharacter {
            guard bytes[index] == UInt8(ascii: "/"), slash == nil else { return false }
            slash = index
        }
        guard let slash else { return false }
        return slash > 0 && slash < bytes.count - 1
    }

    /// The text between the parts of a multipart body.
    package var boundary: String? { field["boundary"] }
    /// The character encoding in lower case, if one is named.
    package var charset: String? {
        field["charset"]?.lowercasedASCII
    }
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
