package import Basics
package import JSON

/// A token in the compact form of RFC 7515 section 3.1: three parts, decoded, not yet verified.
///
/// The five parts of an encrypted token and the JSON serializations are not of this form (V-16).
package struct CompactToken: Sendable {
    /// The longest token that is accepted, in bytes (V-07): with the 200 groups of Entra ID a token has 11,000.
    package static let longest = 16384
    /// The longest header of an access token; the certificates of a client assertion make that one longer.
    package static let longestHeader = 2048

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
    package init(_ text: String, longestHeader: Int = Self.longestHeader) throws(TokenRefusal) {
        try self.init(bytes: Array(text.utf8), longestHeader: longestHeader)
    }

    package init(bytes: [UInt8], longestHeader: Int = Self.longestHeader) throws(TokenRefusal) {
        guard bytes.count <= Self.longest else { throw .tooLong }
        let (first, second) = try Self.dots(in: bytes)
        header = try Self.part(bytes[..<first])
        payload = try Self.part(bytes[(first + 1)..<second])
        signature = try Self.part(bytes[(second + 1)...])
        guard header.count <= longestHeader else { throw .tooLong }
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

/// The header of a token that passed every rule for headers (V-20 to V-28).
///
/// The key identifier is used only to look up a key, and the algorithm only to be compared with that of the key; `jwk`,
/// `jku`, `x5u`, `x5c` and the like never decide anything (V-23).
package struct JOSEHeader: Sendable, Equatable {
    /// `alg` as the token names it, which proves nothing before it is compared with the algorithm of the key (V-21).
    package let algorithm: SignatureAlgorithm
    /// `kid`, to be compared byte by byte.
    package let keyIdentifier: String

    /// - Throws: the first rule that the header of the token breaks.
    package init(of token: CompactToken) throws(TokenRefusal) {
        let members = try Self.members(of: token)
        for check in HeaderCheck.allCases {
            try check.apply(to: members)
        }
        guard let algorithm = Self.algorithm(members["alg"]) else { throw .wrongAlgorithm }
        guard let identifier = Self.keyIdentifier(members["kid"]) else { throw .missingKeyIdentifier }
        self.algorithm = algorithm
        keyIdentifier = identifier
    }

    static func members(of token: CompactToken) throws(TokenRefusal) -> JSONMembers {
        try rethrowing(as: { _ in TokenRefusal.headerNotJSON }) { () throws(JSONError) in
            try StrictJSON.members(token.header, longest: CompactToken.longestHeader)
        }
    }

    /// Returns `alg` if it names a signature that the server can verify: never `none`, and no HMAC (V-21, V-22).
    static func algorithm(_ value: JSONValue?) -> SignatureAlgorithm? {
        value?.string.flatMap { SignatureAlgorithm(named: $0) }
    }

    /// Returns `kid` if it is usable: a string of 1 to 256 bytes (V-27).
    static func keyIdentifier(_ value: JSONValue?) -> String? {
        guard let text = value?.string, (1...256).contains(text.utf8.count) else { return nil }
        return text
    }
}

/// The rules for headers, in their order.
package enum HeaderCheck: Sendable, CaseIterable {
    case algorithm, type, critical, unsupported, keyIdentifier

    func apply(to header: JSONMembers) throws(TokenRefusal) {
        switch self {
        // The settings and the key decide later whether the algorithm is theirs: RFC 8725 sections 3.1 and 3.2 (V-21).
        case .algorithm:
            guard JOSEHeader.algorithm(header["alg"]) != nil else { throw .wrongAlgorithm }
        case .type:
            guard isKnownType(header["typ"]) else { throw .wrongType }
        // No extension is supported, so `crit` in any form must be refused: RFC 7515 section 4.1.11 (V-25).
        case .critical:
            guard !header.contains("crit") else { throw .criticalExtension }
        case .unsupported:
            guard !header.contains("b64"), !header.contains("zip"), !header.contains("enc"),
                isPlainContent(header["cty"])
            else { throw .unsupportedHeader }
        case .keyIdentifier:
            guard JOSEHeader.keyIdentifier(header["kid"]) != nil else { throw .missingKeyIdentifier }
        }
    }

    /// Returns whether the type is absent, `JWT` or `at+jwt` (V-24).
    private func isKnownType(_ type: JSONValue?) -> Bool {
        guard let type else { return true }
        guard let name = mediaType(type) else { return false }
        return name == "jwt" || name == "at+jwt"
    }

    /// Returns whether the payload is not itself a token (V-26).
    private func isPlainContent(_ type: JSONValue?) -> Bool {
        guard let type else { return true }
        guard let name = mediaType(type) else { return false }
        return name != "jwt"
    }

    /// Returns a media type in lower case, without `application/`, which is optional: RFC 7515 section 4.1.9.
    private func mediaType(_ value: JSONValue) -> String? {
        guard let text = value.string.map(\.lowercasedASCII) else { return nil }
        return text.hasPrefix("application/") ? String(text.dropFirst("application/".count)) : text
    }
}

/// The claims of a token (RFC 7519 section 4), before any is checked.
package struct Claims: Sendable {
    package let members: JSONMembers

    /// Reads the payload of a token: its signature was verified (V-50, V-51), or its source is to be found (P-13).
    package init(of token: CompactToken) throws(TokenRefusal) {
        members = try rethrowing(as: { _ in TokenRefusal.payloadNotJSON }) { () throws(JSONError) in
            try StrictJSON.members(token.payload, longest: CompactToken.longest)
        }
    }

    package subscript(name: String) -> JSONValue? { members[name] }

    /// Returns a NumericDate in seconds since 1970; nil if the claim is absent, which `null` is not (V-52).
    func moment(_ name: String) throws(TokenRefusal) -> Double? {
        switch members[name] {
        case nil: nil
        case .integer(let seconds)?: try Self.checked(Double(seconds))
        case .real(let seconds)?: try Self.checked(seconds)
        case .null?, .boolean?, .string?, .array?, .object?: throw .notNumericDate
        }
    }

    /// Checks that a time is between 1970 and the year 9999: a `Double` holds these seconds exactly and converts to an
    /// integer without a trap.
    private static func checked(_ seconds: Double) throws(TokenRefusal) -> Double {
        guard seconds >= 0, seconds <= 253_402_300_799 else { throw .notNumericDate }
        return seconds
    }
}

extension Claims {
    /// `iss`, if it is text.
    package var issuer: String? { members["iss"]?.string }

    /// The policy that the token names.
    package var policy: String? { self["tfp"]?.string ?? self["acr"]?.string }

    /// `tid`, if it is a GUID, in lower case.
    package var tenant: String? { members["tid"]?.string.flatMap(GUID.canonical) }

    /// Whether the token has scopes, which only access tokens have.
    var hasScopes: Bool { members["scp"] != nil || members["scope"] != nil }
}

/// The reading of JSON in this module: one object, strictly, within limits (V-20, V-51).
enum StrictJSON {
    /// The deepest nesting of tokens and keys.
    static let depth = 16
    /// The most members of the outermost object.
    static let members = 256

    /// Returns the members of an object, which are decoded on demand.
    static func members(_ bytes: [UInt8], longest: Int) throws(JSONError) -> JSONMembers {
        try JSONMembers(parsing: bytes, limits: JSONLimits(bytes: longest, depth: depth), most: members)
    }

    static func object(_ bytes: [UInt8], longest: Int) throws(JSONError) -> JSONObject {
        let value = try JSONValue(parsing: bytes, limits: JSONLimits(bytes: longest, depth: depth))
        guard case .object(let object) = value else { throw .malformed(reason: "not an object", offset: 0) }
        guard object.members.count <= members else { throw .tooLong }
        return object
    }
}
