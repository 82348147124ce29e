/// Every check that a token must pass, in the order in which the verifier makes them.
package enum TokenCheck: Sendable, Equatable, CaseIterable {
    case form
    case header, algorithm, type, critical, unsupported, keyIdentifier
    case source, key, signature
    case payload, expiry, notBefore, issuedAt, tenant, issuer, audience, policy, kind, application, owner, scope

    /// The condition that must hold, as a sentence without its full stop.
    package var requirement: String {
        switch self {
        case .form: "the token has three parts of canonical base64url, and is not too long"
        case .header: "the header is one strict JSON object"
        case .algorithm: "alg is a signature that the server can verify"
        case .type: "typ is absent, JWT or at+jwt"
        case .critical: "the header has no critical extension (crit)"
        case .unsupported: "the token is not encrypted, compressed, detached or nested"
        case .keyIdentifier: "the header names its key (kid)"
        case .source: "a provider is configured for the issuer, and its time is not over (iss)"
        case .key: "the provider publishes the key for this alg, and the settings allow it"
        case .signature: "the key made the signature"
        case .payload: "the claims are one strict JSON object"
        case .expiry: "the token has not expired (exp)"
        case .notBefore: "the token is valid already (nbf)"
        case .issuedAt: "the token was issued in the past, for no longer than allowed (iat)"
        case .tenant: "the tenant may use this API (tid)"
        case .issuer: "the token is from the issuer of the key (iss)"
        case .audience: "the token is meant for this application (aud)"
        case .policy: "the token is from a policy of the key (tfp or acr)"
        case .kind: "the token is of the configured kind: access token or ID token"
        case .application: "the token is for a person, not for an application"
        case .owner: "the token names its owner"
        case .scope: "the scopes, if there are any, are a string or an array (scp, scope)"
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
