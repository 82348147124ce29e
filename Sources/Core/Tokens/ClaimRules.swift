import Basics

/// The rules for claims that are the same for every token of one token source.
package struct ClaimRules: Sendable, Equatable {
    package var audience: AudienceRules
    package var owner: OwnerRules
    package var scopes = ScopeRules()
    /// The kind of token that is accepted (P-28).
    package var kind = TokenKind.any
    /// The tenants that may use the API, if the issuer leaves the tenant open (P-22).
    package var tenants: AllowedTenants?
    /// Whether the provider is Entra ID or Entra External ID, whose claims are known: not B2C (P-23, P-27).
    package var isMicrosoft = false
    /// The largest difference between clocks, in seconds.
    package var clockSkew: Int64
    /// The longest time from `iat` to `exp`, in seconds; B2C grants at most a day (V-53, P-30).
    package var longestLifetime: Int64
    /// The name of the token source; nil for the source of the settings without a name.
    package var source: String?
    /// The time from which the tokens of the source are refused, in seconds since 1970 (P-31).
    package var end: Int64?

    /// Creates rules for these audiences; the defaults are those for B2C.
    package init(
        audiences: [String], ownerClaim: OwnerClaim = .objectIdentifier, clockSkew: Int64 = 60,
        longestLifetime: Int64 = 86_400
    ) {
        audience = AudienceRules(accepted: audiences)
        owner = OwnerRules(claim: ownerClaim)
        self.clockSkew = clockSkew
        self.longestLifetime = longestLifetime
    }

    /// Checks the claims of a token whose signature was verified (V-50), at this second since 1970.
    ///
    /// The issuers are those that publish the key that signed, one for each policy. The first rule that is broken is
    /// thrown.
    package func check(
        _ claims: Claims, of issuers: [TokenIssuer], now: Int64
    ) throws(TokenRefusal) -> VerifiedToken {
        var examination = ClaimExamination(claims: claims, rules: self, issuers: issuers, now: now)
        for check in ClaimCheck.allCases {
            try examination.apply(check)
        }
        return try examination.verified()
    }
}

/// The kind of token that is accepted (P-28).
package enum TokenKind: String, Sendable, CaseIterable {
    case access, id, any
}

/// The tenants whose tokens are accepted if one issuer is for many tenants (P-22).
package struct AllowedTenants: Sendable, Equatable {
    /// The GUIDs of tenants, in lower case.
    package var listed: [String]
    /// Whether every other tenant is allowed too, except the tenant of personal accounts.
    package var isAny: Bool

    package init(listed: [String], isAny: Bool = false) {
        self.listed = listed
        self.isAny = isAny
    }

    /// Returns whether a tenant, a GUID in lower case, may use the API.
    func allows(_ tenant: String) -> Bool {
        listed.contains { $0.isSame(as: tenant) } || isAny && !tenant.isSame(as: IssuerTenant.personalAccounts)
    }
}
