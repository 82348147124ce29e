/// A media type, as `Content-Type` names it (RFC 9110 section 8.3).
public struct MediaType: Sendable, Equatable {
    /// Type and subtype in lower case, without parameters: `application/json`.
    public let name: String
    private let field: FieldParameters

    /// Reads a field value; nothing, if there is no type with a subtype.
    public init?(_ value: String) {
        field = FieldParameters(value.utf8)
        var bytes = Array(field.value.utf8)
        var slash: Int?
        for (index, byte) in bytes.enumerated() where !byte.isTokenCharacter {
            guard byte == UInt8(ascii: "/"), slash == nil else { return nil }
            slash = index
        }
        guard let slash, slash > 0, slash < bytes.count - 1 else { return nil }
        for index in bytes.indices { bytes[index] = bytes[index].lowercasedASCII }
        name = String(decoding: bytes, as: UTF8.self)
    }

    /// What separates the parts of a multipart body.
    public var boundary: String? { field["boundary"] }
    /// The character encoding in lower case, if one is named.
    public var charset: String? {
        field["charset"].map { String(decoding: $0.utf8.map(\.lowercasedASCII), as: UTF8.self) }
    }
}

extension RequestHead {
    /// The media type of the body; nothing, if none is named, or nothing that is one.
    public var contentType: MediaType? { headers["Content-Type"].flatMap(MediaType.init) }
}

extension UInt8 {
    /// Whether this may stand in a token (RFC 9110 section 5.6.2).
    var isTokenCharacter: Bool {
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
