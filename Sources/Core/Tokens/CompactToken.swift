import Basics

/// A token in the compact form of RFC 7515 section 3.1: three parts, decoded, not yet verified.
///
/// The five parts of an encrypted token and the JSON serializations are not of this form (V-16).
package struct CompactToken: Sendable {
    /// The longest token that is accepted, in bytes (V-07): with the 200 groups of Entra ID a token has 11,000.
    package static let longest = 16384
    static let longestHeader = 2048

    /// All received bytes.
    package let bytes: [UInt8]
    /// The header, decoded from base64url.
    package let header: [UInt8]
    /// The payload, decoded from base64url, of which only the issuer may be read before the signature is verified
    /// (V-15): the issuer chooses the token source whose keys may verify the token (P-13).
    package let payload: [UInt8]
    /// The signature, decoded from base64url.
    package let signature: [UInt8]
    private let secondDot: Int

    /// The bytes that the signature covers: those received before the second dot, never a new serialization (V-14).
    package var signingInput: ArraySlice<UInt8> { bytes[..<secondDot] }

    /// Splits and decodes the text after the scheme, or throws the rule of form that it breaks.
    package init(_ text: String) throws(TokenRefusal) {
        try self.init(bytes: Array(text.utf8))
    }

    package init(bytes: [UInt8]) throws(TokenRefusal) {
        guard bytes.count <= Self.longest else { throw .tooLong }
        let (first, second) = try Self.dots(in: bytes)
        header = try Self.part(bytes[..<first])
        payload = try Self.part(bytes[(first + 1)..<second])
        signature = try Self.part(bytes[(second + 1)...])
        guard header.count <= Self.longestHeader else { throw .tooLong }
        self.bytes = bytes
        secondDot = second
    }

    /// Returns the offsets of the two dots; the scan ends at a third dot (V-10, V-11).
    private static func dots(in bytes: [UInt8]) throws(TokenRefusal) -> (Int, Int) {
        let (bytes, dot) = (bytes.span, UInt8(ascii: "."))
        guard let first = bytes.next(dot, from: 0), let second = bytes.next(dot, from: first + 1),
            bytes.next(dot, from: second + 1) == nil, first > 0, second > first + 1, second + 1 < bytes.count
        else { throw .notThreeSegments }
        return (first, second)
    }

    private static func part(_ letters: ArraySlice<UInt8>) throws(TokenRefusal) -> [UInt8] {
        guard let bytes = Base64URL.decode(letters.span) else { throw .notBase64URL }
        return bytes
    }
}
