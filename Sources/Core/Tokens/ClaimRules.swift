import Basics
/// A possible issuer of a token under some key: an issuer, and the policy whose metadata named it.
///
/// One B2C tenant has many policies that share an issuer and may share keys, so the issuer alone does not tell of which
/// policy a token is.
package struct TokenIssuer: Sendable, Hashable {
    /// The issuer that the metadata names; `iss` must have the same bytes (V-54).
    package let identifier: String
    /// The policy as configured, or nothing for a provider without policies.
    package let policy: String?

    package init(identifier: String, policy: String?) {
        self.identifier = identifier
        self.policy = policy
    }

    /// Compares bytes; see ``Text``.
    package static func == (a: TokenIssuer, b: TokenIssuer) -> Bool {
        guard a.identifier.isSame(as: b.identifier) else { return false }
        return switch (a.policy, b.policy) {
        case (nil, nil): true
        case (let a?, let b?): a.isSame(as: b)
        case (nil, _?), (_?, nil): false
        }
    }
}

/// The rules for claims that are the same for every token.
///
/// What depends on the key that signed, its issuers and policies, is an argument of each check. Scopes are compared by
/// the routes.
package struct ClaimRules: Sendable, Equatable {
    /// The application identifiers that `aud` may have (V-55).
    package var audiences: [String]
    /// The claim that names the owner: `oid`, a GUID; any other may have other text (V-57).
    package var ownerClaim: String
    /// How far clocks may differ, in seconds.
    package var clockSkew: Int64
    /// The longest time from `iat` to `exp`, in seconds; B2C grants at most a day.
    package var longestLifetime: Int64

    /// Rules for these audiences; the defaults are those for B2C.
    package init(
        audiences: [String], ownerClaim: String = "oid", clockSkew: Int64 = 60, longestLifetime: Int64 = 86_400
    ) {
        self.audiences = audiences
        self.ownerClaim = ownerClaim
        self.clockSkew = clockSkew
        self.longestLifetime = longestLifetime
    }

    /// Checks the claims of a token whose signature is good.
    ///
    /// - Parameters:
    ///   - token: the token; its signature must have been verified (V-50).
    ///   - keyIdentifier: `kid` of the key that signed.
    ///   - issuers: the issuers that publish that key, one for each policy.
    ///   - now: the wall clock, in seconds since 1970.
    /// - Returns: the token, for a cache to keep.
    /// - Throws: the first rule that is broken.
    package func check(
        _ token: CompactToken, signedBy keyIdentifier: String, of issuers: [TokenIssuer], now: Int64
    ) throws(TokenRefusal) -> VerifiedToken {
        var examination = ClaimExamination(claims: try Claims(of: token), rules: self, issuers: issuers, now: now)
        for check in ClaimCheck.allCases {
            try examination.apply(check)
        }
        return try examination.verified(keyIdentifier: keyIdentifier)
    }
}
