import Basics
import JSON

/// The rules for claims, in their order (V-50).
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
    var issued: Double?

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
            expiry: Int64(expiry.rounded(.down)),
            issued: Int64((issued ?? expiry - Double(rules.longestLifetime)).rounded(.down)), source: rules.source,
            required: rules.scopes.required)
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

    /// Checks `iat` and the lifetime, which counts from now at the latest: so it is limited without `iat`, too.
    private mutating func checkIssuedAt() throws(TokenRefusal) {
        issued = try claims.moment("iat")
        let begin = issued ?? Double(now)
        guard begin <= Double(now) + skew else { throw .issuedInFuture }
        if let expiry = try claims.moment("exp") {
            let earliest = expiry - Double(rules.longestLifetime)
            guard earliest <= min(begin, Double(now)) + skew else { throw .lifetimeTooLong }
            beginning = max(beginning, earliest)
        }
        beginning = max(beginning, issued ?? beginning)
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

// Audience, kind, owner, scopes (V-55 to V-59, P-24 to P-28).
extension ClaimExamination {
    func checkAudience() throws(TokenRefusal) {
        let audience = rules.audience
        if !audience.claim.isSame(as: "aud") {
            guard let value = claims[audience.claim]?.string, isAccepted(value) else { throw .wrongAudience }
            // A token that also has the standard claim must name this application there, too.
            guard claims["aud"] != nil else { return }
        }
        let isMeant =
            switch claims["aud"] {
            case .string(let text)?: isAccepted(text)
            case .array(let list)?: isAccepted(list, audience.match)
            case nil, .null?, .boolean?, .integer?, .real?, .object?: false
            }
        guard isMeant else { throw .wrongAudience }
    }

    private func isAccepted(_ audience: String) -> Bool {
        rules.audience.accepted.contains { $0.isSame(as: audience) }
    }

    private func isAccepted(_ list: [JSONValue], _ match: AudienceMatch) -> Bool {
        switch match {
        // With several audiences, another audience could present the token here.
        case .one: return list.count == 1 && list.first?.string.map(isAccepted) ?? false
        case .any:
            let names = list.compactMap(\.string)
            guard names.count == list.count, names.count <= 16 else { return false }
            return names.contains(where: isAccepted)
        }
    }

    func checkedOwner() throws(TokenRefusal) -> String {
        switch rules.owner.claim {
        case .objectIdentifier: return rules.owner.prefix + (try identifier("oid"))
        case .tenantAndObject: return rules.owner.prefix + (try identifier("tid")) + "+" + (try identifier("oid"))
        case .other(let name):
            guard let claim = claims[name] else { throw .missingOwner }
            guard let owner = claim.string, (1...256).contains(owner.utf8.count), !owner.hasControlCharacter else {
                throw .malformedOwner
            }
            return rules.owner.prefix + owner
        }
    }

    private func identifier(_ name: String) throws(TokenRefusal) -> String {
        guard let claim = claims[name] else { throw .missingOwner }
        guard let value = claim.string.flatMap(GUID.canonical) else { throw .malformedOwner }
        return value
    }

    func checkedScopes() throws(TokenRefusal) -> [String] {
        switch rules.scopes.claim {
        case .scp: return try scopes(of: "scp") ?? []
        case .scope: return try scopes(of: "scope") ?? []
        case .automatic:
            let (scp, scope) = (try scopes(of: "scp"), try scopes(of: "scope"))
            if let scp, let scope, !Self.isSameSet(scp, scope) { throw .malformedScope }
            return scp ?? scope ?? []
        }
    }

    /// The scopes in a claim, which is a text, or an array as Okta, IdentityServer and Spring send it.
    private func scopes(of name: String) throws(TokenRefusal) -> [String]? {
        switch claims[name] {
        case nil: return nil
        case .string(let text)?: return text.split(separator: " ").map(String.init)
        // An element that is not a string grants nothing.
        case .array(let list)?: return list.compactMap(\.string)
        case .null?, .boolean?, .integer?, .real?, .object?: throw .malformedScope
        }
    }

    private static func isSameSet(_ scopes: [String], _ others: [String]) -> Bool {
        let (first, second) = (Set(scopes.map { Array($0.utf8) }), Set(others.map { Array($0.utf8) }))
        return first == second
    }
}

// Access tokens, ID tokens, tokens of applications (P-27, P-28).
extension ClaimExamination {
    func checkKind() throws(TokenRefusal) {
        switch rules.kind {
        case .any: return
        case .access: guard !hasMarksOfIDToken else { throw .idToken }
        // Google, Firebase and Apple put no mark into every ID token, so any token but an access token counts as one.
        case .id: guard !hasMarksOfAccessToken else { throw .notIDToken }
        }
    }

    private func says(_ name: String, _ value: String) -> Bool {
        claims[name]?.string.map { $0.isEqualIgnoringCase(to: value) } ?? false
    }

    /// Whether the token has claims that only ID tokens have.
    ///
    /// These claims are from OpenID Connect Core 1.0 section 2, Cognito (`token_use`) and Keycloak (`typ`). authentik's
    /// ID tokens may have none of them, but have the time of the sign-in without the name of a client.
    private var hasMarksOfIDToken: Bool {
        let isOfSignIn = claims["auth_time"] != nil && claims["azp"] == nil && claims["client_id"] == nil
        return says("token_use", "id") || says("typ", "ID") || claims["at_hash"] != nil || claims["c_hash"] != nil
            || !claims.hasScopes && (claims["nonce"] != nil || isOfSignIn || isMicrosoftsWithoutClient)
    }

    /// Whether this is an ID token of Microsoft's without `nonce`: every access token names a client.
    private var isMicrosoftsWithoutClient: Bool {
        rules.isMicrosoft && ["azp", "azpacr", "appid", "appidacr"].allSatisfy { claims[$0] == nil }
    }

    private var hasMarksOfAccessToken: Bool {
        let isMicrosofts = rules.isMicrosoft && (claims["azpacr"] != nil || claims["appidacr"] != nil)
        return claims.hasScopes || says("token_use", "access") || says("typ", "Bearer") || isMicrosofts
    }

    /// Whether `scp` grants anything; a value of another type is refused elsewhere.
    private var namesScopes: Bool {
        switch claims["scp"] {
        case nil: false
        case .string(let text)?: !text.utf8.allSatisfy { $0 == UInt8(ascii: " ") }
        case .array(let list)?: list.contains { $0.string != nil }
        case .null?, .boolean?, .integer?, .real?, .object?: true
        }
    }

    /// Refuses a token that an application got with its own credentials, because no person signed in for it.
    func checkApplication() throws(TokenRefusal) {
        let hasScopesOfPerson = !rules.isMicrosoft || rules.kind == .id || namesScopes || hasMarksOfIDToken
        let isApplication = says("idtyp", "app") || !hasScopesOfPerson
        guard !isApplication else { throw .applicationToken(lacking: rules.scopes.required.list) }
    }
}
