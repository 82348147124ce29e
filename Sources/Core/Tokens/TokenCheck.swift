/// Every check that a token must pass, in the order in which the verifier makes them.
package enum TokenCheck: Sendable, Equatable, CaseIterable {
    case form, header
    case headerRule(HeaderCheck)
    case source, key, signature, payload
    case claim(ClaimCheck)

    package static let allCases: [TokenCheck] =
        [.form, .header] + HeaderCheck.allCases.map { .headerRule($0) } + [.source, .key, .signature, .payload]
        + ClaimCheck.allCases.map { .claim($0) }

    /// The condition that must hold, as a sentence without its full stop.
    package var requirement: String {
        switch self {
        case .form: "the token has three parts of canonical base64url, and is not too long"
        case .header: "the header is one strict JSON object"
        case .headerRule(.algorithm): "alg is a signature that the server can verify"
        case .headerRule(.type): "typ is absent, JWT or at+jwt"
        case .headerRule(.critical): "the header has no critical extension (crit)"
        case .headerRule(.unsupported): "the token is not encrypted, compressed, detached or nested"
        case .headerRule(.keyIdentifier): "the header names its key (kid)"
        case .source: "a provider is configured for the issuer, and its time is not over (iss)"
        case .key: "the provider publishes the key for this alg, and the settings allow it"
        case .signature: "the key made the signature"
        case .payload: "the claims are one strict JSON object"
        case .claim(.expiry): "the token has not expired (exp)"
        case .claim(.notBefore): "the token is valid already (nbf)"
        case .claim(.issuedAt): "the token was issued in the past, for no longer than allowed (iat)"
        case .claim(.tenant): "the tenant may use this API (tid)"
        case .claim(.issuer): "the token is from the issuer of the key (iss)"
        case .claim(.audience): "the token is meant for this application (aud)"
        case .claim(.policy): "the token is from a policy of the key (tfp or acr)"
        case .claim(.kind): "the token is of the configured kind: access token or ID token"
        case .claim(.application): "the token is for a person, not for an application"
        case .claim(.owner): "the token names its owner"
        case .claim(.scope): "the scopes, if there are any, are a string or an array (scp, scope)"
        }
    }
}
