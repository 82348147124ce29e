import Basics
import JSON

/// The rules for claims, in their order (V-50), for the verifier and the explanation alike.
package enum ClaimCheck: Sendable, CaseIterable {
    case expiry, notBefore, issuedAt, tenant, issuer, audience, policy, kind, application, owner, scope
}

/// The examination of one token's claims, and the values found so far.
struct ClaimExamination {
    let claims: Claims
    let rules: ClaimRules
    /// The issuers that publish the key of the signature.
    let issuers: [TokenIssuer]
    let now: Int64

    var policy: String?
    var owner: String?
    var scopes: [String] = []
    var expiry: Double = 0
    var beginning: Double = 0

    /// Checks one rule, as far as possible without the results of the others.
    mutating func apply(_ check: ClaimCheck) throws(TokenRefusal) {
        switch check {
        case .expiry: try checkExpiry()
        case .notBefore: try checkNotBefore()
        case .issuedAt: try checkIssuedAt()
        case .tenant: try checkTenant()
        case .issuer: try checkIssuer()
        case .audience: try checkAudience()
        case .policy: policy = try checkedPolicy()
        case .kind: try checkKind()
        case .application: try checkApplication()
        case .owner: owner = try checkedOwner()
        case .scope: scopes = try checkedScopes()
        }
    }

    /// Returns the verified token, once all rules were checked.
    func verified() throws(TokenRefusal) -> VerifiedToken {
        guard let owner else { throw .missingOwner }
        let principal = Principal(
            owner: owner, name: claims["name"]?.string, policy: policy, scopes: scopes,
            expiry: Int64(expiry.rounded(.down)), source: rules.source, required: rules.scopes.required)
        let usableUntil = Int64(expiry.rounded(.up)) + rules.clockSkew
        // A whole second n satisfies n < x exactly if n < ceil(x), and n >= x exactly if n >= ceil(x).
        return VerifiedToken(
            principal: principal, usableFrom: Int64(beginning.rounded(.up)) - rules.clockSkew,
            usableUntil: min(usableUntil, rules.end ?? usableUntil))
    }
}

// The times (V-52, V-53).
extension ClaimExamination {
    private var skew: Double { Double(rules.clockSkew) }

    private mutating func checkExpiry() throws(TokenRefusal) {
        guard let expiry = try claims.moment("exp") else { throw .missingExpiry }
        guard Double(now) < expiry + skew else { throw .expired }
        self.expiry = expiry
    }

    private mutating func checkNotBefore() throws(TokenRefusal) {
        guard let start = try claims.moment("nbf") else { return }
        guard start <= Double(now) + skew else { throw .notYetValid }
        // A token that begins after its end is valid at no time.
        if let expiry = try claims.moment("exp"), start >= expiry { throw .notYetValid }
        beginning = max(beginning, start)
    }

    private mutating func checkIssuedAt() throws(TokenRefusal) {
        guard let issued = try claims.moment("iat") else { return }
        guard issued <= Double(now) + skew else { throw .issuedInFuture }
        if let expiry = try claims.moment("exp"), expiry - issued > Double(rules.longestLifetime) + skew {
            throw .lifetimeTooLong
        }
        beginning = max(beginning, issued)
    }
}

// Issuer, tenant, policy (V-54, V-56, P-22, P-23).
extension ClaimExamination {
    private func isIssuer(_ issuer: TokenIssuer) -> Bool {
        claims.issuer.map { issuer.issues($0, tenant: claims.tenant) } ?? false
    }

    private func checkIssuer() throws(TokenRefusal) {
        // These are loops because a closure would copy the examination.
        for issuer in issuers where isIssuer(issuer) { return }
        throw .wrongIssuer
    }

    /// Checks that the tenant may use the API, and is the tenant of the issuer.
    private func checkTenant() throws(TokenRefusal) {
        guard rules.isMicrosoft || rules.tenants != nil else { return }
        // Microsoft's library refuses a second `tid` in other case, which a reader that ignores case would take.
        let names = claims.members.names.filter { $0.isEqualIgnoringCase(to: "tid") }
        guard names.count < 2 else { throw .wrongTenant }
        let named = claims.issuer.flatMap { IssuerTenant.of($0) }
        if let tenants = rules.tenants {
            guard let tenant = claims.tenant, tenants.allows(tenant) else { throw .wrongTenant }
        }
        guard let claim = claims["tid"], let named else { return }
        guard let tenant = claim.string, tenant.isEqualIgnoringCase(to: named) else { throw .wrongTenant }
    }

    /// Returns the policy as configured, under which this key must have been published with this issuer (V-56).
    ///
    /// Without this check, a token of the password-reset policy would pass for a token of the sign-in policy. If no
    /// policy is configured, a token that names a policy is refused, too.
    private func checkedPolicy() throws(TokenRefusal) -> String? {
        // A wrong issuer was reported by its own check; the policy can still be checked.
        var candidates: [TokenIssuer] = []
        for issuer in issuers where isIssuer(issuer) { candidates.append(issuer) }
        if candidates.isEmpty { candidates = issuers }
        if !namesPolicyOfB2C, candidates.contains(where: { $0.policy == nil }) { return nil }
        guard let claimed = try claimedPolicy() else { throw .missingPolicy }
        for case let policy? in candidates.lazy.map(\.policy) where policy.isEqualIgnoringCase(to: claimed) {
            return policy
        }
        throw .wrongPolicy
    }

    /// Whether the token is of a B2C policy: only B2C has `tfp`, and other providers have other values in `acr`.
    private var namesPolicyOfB2C: Bool {
        claims["tfp"] != nil || claims["acr"]?.string.map(PolicyName.isOfB2C) ?? false
    }

    /// Returns `tfp`, or else `acr`; if the token has both, they must agree.
    private func claimedPolicy() throws(TokenRefusal) -> String? {
        let (tfp, acr) = (try policy(in: "tfp"), try policy(in: "acr"))
        if let tfp, let acr, !tfp.isEqualIgnoringCase(to: acr) { throw .wrongPolicy }
        return tfp ?? acr
    }

    private func policy(in name: String) throws(TokenRefusal) -> String? {
        guard let value = claims[name] else { return nil }
        guard let text = value.string else { throw .wrongPolicy }
        return text
    }
}
