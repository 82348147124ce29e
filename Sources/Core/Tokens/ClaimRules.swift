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

/// The rules for the audience of a token (V-55, P-24).
package struct AudienceRules: Sendable, Equatable {
    /// The application identifiers that are accepted, compared byte by byte (P-25).
    package var accepted: [String]
    /// The claim that holds the audience; `client_id` for Cognito, whose access tokens have no `aud`.
    package var claim = "aud"
    package var match = AudienceMatch.one

    package init(accepted: [String]) {
        self.accepted = accepted
    }
}

/// The rule for an array of audiences (P-24).
package enum AudienceMatch: String, Sendable, CaseIterable {
    /// One element, which is accepted: if there were several, another audience could present the token here.
    case one
    /// 1 to 16 elements, of which at least one is accepted.
    case any
}

/// The rules by which a token names the owner of tasks (V-57, P-14).
package struct OwnerRules: Sendable, Equatable {
    package var claim: OwnerClaim
    /// The text before the value of the claim: `ext:`, or nothing.
    package var prefix = ""
}

/// The claim, or claims, that identify a person.
package enum OwnerClaim: Sendable, Equatable {
    /// `oid`, a GUID.
    case objectIdentifier
    /// `tid` and `oid`, both GUIDs: an object id is unique only in its tenant (P-16). The value is `<tid>+<oid>`.
    case tenantAndObject
    /// Any other claim, whose value is any text.
    case other(String)

    /// Reads the text of the settings: `oid`, `tid+oid`, or the name of another claim.
    package init(_ text: String) {
        if text.isSame(as: "oid") {
            self = .objectIdentifier
        } else if text.isSame(as: "tid+oid") {
            self = .tenantAndObject
        } else {
            self = .other(text)
        }
    }

    /// Whether every value consists of GUIDs, so that no value can look like one with a namespace before it (P-14).
    package var isGUID: Bool { if case .other = self { false } else { true } }

    var names: [String] {
        switch self {
        case .objectIdentifier: ["oid"]
        case .tenantAndObject: ["tid", "oid"]
        case .other(let name): [name]
        }
    }
}

/// The claim with the scopes of a token, and the scopes that are required (V-59, P-26).
package struct ScopeRules: Sendable, Equatable {
    package var claim = ScopeClaim.scp
    package var required = RequiredScopes()

    package init() {}
}

/// The scopes that reading and changing tasks require; nil requires none.
package struct RequiredScopes: Sendable, Equatable {
    package var read: String?
    package var write: String?

    package init(read: String? = nil, write: String? = nil) {
        self.read = read
        self.write = write
    }

    /// Returns the required scopes that are not among these.
    func missing(from scopes: [String]) -> RequiredScopes {
        RequiredScopes(read: read.flatMap { Self.absent($0, scopes) }, write: write.flatMap { Self.absent($0, scopes) })
    }

    private static func absent(_ scope: String, _ scopes: [String]) -> String? {
        scopes.contains { $0.isSame(as: scope) } ? nil : scope
    }

    /// All required scopes in one text, as in the parameter `scope` of a challenge; nil if none is required.
    var list: String? {
        guard let read else { return write }
        guard let write, !write.isSame(as: read) else { return read }
        return "\(read) \(write)"
    }
}

/// The claim that holds the scopes (P-26).
package enum ScopeClaim: String, Sendable, CaseIterable {
    /// `scp`, a string (Microsoft) or an array (Okta).
    case scp
    /// `scope`, a string (RFC 9068 section 2.2.3).
    case scope
    /// `scp` if the token has it, else `scope`; if the token has both, they must be equal.
    case automatic = "auto"
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
