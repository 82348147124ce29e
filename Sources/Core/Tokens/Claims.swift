import Basics
package import JSON

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
