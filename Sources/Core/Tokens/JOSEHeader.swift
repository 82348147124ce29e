package import Basics
import JSON

/// The header of a token that passed every rule for headers (V-20 to V-28).
///
/// The key identifier is used only to look up a key, and the algorithm only to be compared with that of the key; `jwk`,
/// `jku`, `x5u`, `x5c` and the like never decide anything (V-23).
package struct JOSEHeader: Sendable, Equatable {
    /// `alg`: what the token says, which is not what its key is for before both were compared (V-21).
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

/// The rules for headers, in their order, for the verifier and the explanation alike.
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
