/// Every check that a token must pass, in the order in which the verifier makes them.
package enum TokenCheck: Sendable, Equatable, CaseIterable {
    case form
    case header, algorithm, type, critical, unsupported, keyIdentifier
    case source, key, signature
    case payload, expiry, notBefore, issuedAt, tenant, issuer, audience, policy, kind, application, owner, scope

    /// The condition that must hold, in a few words.
    package var requirement: String {
        switch self {
        case .form: "three parts of canonical base64url, not too long"
        case .header: "the header is one strict JSON object"
        case .algorithm: "alg is RS256"
        case .type: "typ is absent, JWT or at+jwt"
        case .critical: "no critical extension"
        case .unsupported: "not encrypted, compressed, detached or nested"
        case .keyIdentifier: "the header names its key (kid)"
        case .source: "a provider is configured for that issuer, and not closed (iss)"
        case .key: "a configured provider publishes that key"
        case .signature: "the signature is that key's"
        case .payload: "the claims are one strict JSON object"
        case .expiry: "not expired (exp)"
        case .notBefore: "valid already (nbf)"
        case .issuedAt: "issued in the past, for no longer than allowed (iat)"
        case .tenant: "from a tenant that may use this API (tid)"
        case .issuer: "from the issuer of that key (iss)"
        case .audience: "meant for this application (aud)"
        case .policy: "from a policy of that key (tfp or acr)"
        case .kind: "of the configured kind: access token or ID token"
        case .application: "for a person, not for an application"
        case .owner: "names its owner"
        case .scope: "scopes, if any, are a string or an array (scp, scope)"
        }
    }

    init(_ check: HeaderCheck) {
        switch check {
        case .algorithm: self = .algorithm
        case .type: self = .type
        case .critical: self = .critical
        case .unsupported: self = .unsupported
        case .keyIdentifier: self = .keyIdentifier
        }
    }

    init(_ check: ClaimCheck) {
        switch check {
        case .expiry: self = .expiry
        case .notBefore: self = .notBefore
        case .issuedAt: self = .issuedAt
        case .tenant: self = .tenant
        case .issuer: self = .issuer
        case .audience: self = .audience
        case .policy: self = .policy
        case .kind: self = .kind
        case .application: self = .application
        case .owner: self = .owner
        case .scope: self = .scope
        }
    }
}
