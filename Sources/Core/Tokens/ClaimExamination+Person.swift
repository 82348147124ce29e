import Basics
import JSON

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

    /// The scopes in a claim: of a text, or of an array as Okta, IdentityServer and Spring send it.
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
    /// They are from OpenID Connect Core 1.0 section 2, Cognito (`token_use`) and Keycloak (`typ`). authentik's ID
    /// tokens may have none of them, but have the time of the sign-in without the name of a client.
    private var hasMarksOfIDToken: Bool {
        let isOfSignIn = claims["auth_time"] != nil && claims["azp"] == nil && claims["client_id"] == nil
        return says("token_use", "id") || says("typ", "ID") || claims["at_hash"] != nil || claims["c_hash"] != nil
            || !claims.hasScopes && (claims["nonce"] != nil || isOfSignIn || isMicrosoftsWithoutClient)
    }

    /// Whether this is an ID token of Microsoft's without `nonce`: access tokens, also those of applications, name a client.
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
