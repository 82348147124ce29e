/// The reason why a token was refused, one case for each rule; the client sees only ``outcome``.
package enum TokenRefusal: Error, Equatable, Sendable, Hashable {
    // Form (V-07 to V-16)
    case tooLong, notThreeSegments, notBase64URL
    // Header (V-20 to V-28)
    case headerNotJSON, wrongAlgorithm, wrongType, criticalExtension, unsupportedHeader, missingKeyIdentifier
    // Key and signature (V-35 to V-48)
    case unknownKey, badSignature
    // Claims (V-50 to V-61)
    case payloadNotJSON, missingExpiry, notNumericDate, expired, notYetValid, issuedInFuture, lifetimeTooLong
    case wrongIssuer, wrongAudience, missingPolicy, wrongPolicy, missingOwner, malformedOwner, malformedScope
    // Claims by the rules of one token source (P-22 to P-31)
    case wrongTenant, idToken, notIDToken, sourceClosed
    /// No person signed in for the token, which lacks the scopes that the source requires (one text).
    case applicationToken(lacking: String?)
    // Keys (V-71, V-81, V-118): not the client's fault
    /// The token cannot be verified now; try again after that many seconds.
    case keysUnavailable(retryAfter: Int)

    /// The part of a refusal that a client sees (V-63, V-116).
    package enum Outcome: Sendable, Equatable {
        case invalid
        case expired
        /// A new token would be as long.
        case tooLong
        /// The token is good but lacks the required scopes; the client learns nothing else about it.
        case insufficientScope(String)
        case unavailable(retryAfter: Int)
    }

    package var outcome: Outcome {
        switch self {
        case .expired: .expired
        case .tooLong: .tooLong
        case .keysUnavailable(let seconds): .unavailable(retryAfter: seconds)
        case .applicationToken(let scopes?): .insufficientScope(scopes)
        case .notThreeSegments, .notBase64URL, .headerNotJSON, .wrongAlgorithm, .wrongType,
            .criticalExtension, .unsupportedHeader, .missingKeyIdentifier, .unknownKey, .badSignature,
            .payloadNotJSON, .missingExpiry, .notNumericDate, .notYetValid, .issuedInFuture, .lifetimeTooLong,
            .wrongIssuer, .wrongAudience, .missingPolicy, .wrongPolicy, .missingOwner, .malformedOwner,
            .malformedScope, .wrongTenant, .idToken, .notIDToken, .sourceClosed, .applicationToken(nil):
            .invalid
        }
    }
}

extension TokenRefusal {
    /// One of each kind.
    package static let all: [TokenRefusal] = [
        .tooLong, .notThreeSegments, .notBase64URL, .headerNotJSON, .wrongAlgorithm, .wrongType, .criticalExtension,
        .unsupportedHeader, .missingKeyIdentifier, .unknownKey, .badSignature, .payloadNotJSON, .missingExpiry,
        .notNumericDate, .expired, .notYetValid, .issuedInFuture, .lifetimeTooLong, .wrongIssuer, .wrongAudience,
        .missingPolicy, .wrongPolicy, .missingOwner, .malformedOwner, .malformedScope, .wrongTenant, .idToken,
        .notIDToken, .sourceClosed, .applicationToken(lacking: nil), .keysUnavailable(retryAfter: 1),
    ]

    /// A short, unchanging name of the rule, for logs and metrics (V-132).
    package var code: String {
        switch self {
        case .tooLong: "too_long"
        case .notThreeSegments: "not_three_segments"
        case .notBase64URL: "not_base64url"
        case .headerNotJSON: "header_not_json"
        case .wrongAlgorithm: "wrong_algorithm"
        case .wrongType: "wrong_type"
        case .criticalExtension: "critical_extension"
        case .unsupportedHeader: "unsupported_header"
        case .missingKeyIdentifier: "missing_kid"
        case .unknownKey: "unknown_kid"
        case .badSignature: "bad_signature"
        case .payloadNotJSON: "payload_not_json"
        case .missingExpiry: "missing_exp"
        case .notNumericDate: "not_numeric_date"
        case .expired: "expired"
        case .notYetValid: "not_yet_valid"
        case .issuedInFuture: "issued_in_future"
        case .lifetimeTooLong: "lifetime_too_long"
        case .wrongIssuer: "wrong_issuer"
        case .wrongAudience: "wrong_audience"
        case .missingPolicy: "missing_policy"
        case .wrongPolicy: "wrong_policy"
        case .missingOwner: "missing_owner"
        case .malformedOwner: "malformed_owner"
        case .malformedScope: "malformed_scope"
        case .wrongTenant: "wrong_tenant"
        case .idToken: "id_token"
        case .notIDToken: "not_id_token"
        case .sourceClosed: "source_closed"
        case .applicationToken: "app_only"
        case .keysUnavailable: "keys_unavailable"
        }
    }
}

extension TokenRefusal {
    /// The fault and its remedy, in one sentence that quotes nothing of the token.
    package var message: String {
        switch self {
        case .tooLong:
            "The token has more than 16,384 bytes, or its header more than 2048; let the provider put fewer groups or other claims into tokens."
        case .notThreeSegments: "The token does not have three parts between dots; send all of it, and nothing else."
        case .notBase64URL: "A part of the token is not canonical base64url; send the token unchanged."
        case .headerNotJSON: "The header of the token is not one strict JSON object; send the token unchanged."
        case .wrongAlgorithm:
            "The token is signed with an algorithm (alg) that is not that of its key, or not allowed; let the provider sign with the algorithm of its published key."
        case .wrongType: "The typ of the token is neither JWT nor at+jwt; send an access token or an ID token."
        case .criticalExtension:
            "The token demands an extension (crit), and none is supported; get a token without one."
        case .unsupportedHeader:
            "The token is encrypted, compressed, detached or nested (enc, zip, b64, cty); get a plain signed token."
        case .missingKeyIdentifier: "The token does not name its key (kid); let the provider name the key."
        case .unknownKey: "The provider publishes no such key; check that the token is from the configured policies."
        case .badSignature: "The named key did not make the signature; send the token unchanged, or sign in again."
        case .payloadNotJSON: "The claims of the token are not one strict JSON object; report it to the provider."
        case .missingExpiry: "The token has no exp; let the provider limit its lifetime."
        case .notNumericDate: "A time in the token is not a number of seconds since 1970; report it to the provider."
        case .expired: "The token has expired; refresh it or sign in again."
        case .notYetValid: "The token is not valid yet (nbf); check the clocks of both machines."
        case .issuedInFuture: "The token was issued in the future (iat); check the clocks of both machines."
        case .lifetimeTooLong:
            "The token lives longer than TASKS_MAX_LIFETIME allows; shorten its lifetime at the provider, or raise the setting."
        case .wrongIssuer:
            "The issuer (iss) is not configured, or not that of the key that signed; check the authority of the client."
        case .wrongAudience:
            "The token is for another application (aud); ask for a token for this one, or add the client id to the settings."
        case .missingPolicy: "The token names no policy (tfp or acr); sign in through a configured policy."
        case .wrongPolicy:
            "The key of the token does not sign for its policy (tfp or acr); add the policy to the settings, or use another."
        case .missingOwner:
            "The token lacks the claim that names its owner; let the provider put it into tokens, or name another (TASKS_OWNER_CLAIM)."
        case .malformedOwner: "The claim that names the owner has the wrong form; oid must be a GUID."
        case .malformedScope:
            "The scopes (scp or scope) are neither a string nor an array, or the two claims differ; report it to the provider."
        case .wrongTenant:
            "The token is from a tenant that may not use this API (tid); sign in at another, or add this tenant to the settings."
        case .idToken:
            "This is an ID token, which tells an app who signed in; send the access token of the same response."
        case .notIDToken:
            "This is an access token, and only ID tokens are accepted; send the ID token of the same response."
        case .sourceClosed:
            "The provider of the token is no longer accepted here; sign in with the one that replaced it."
        case .applicationToken:
            "The token is for an application, so no one could own tasks; sign in as a person instead of with a secret."
        case .keysUnavailable: "The provider's keys are not loaded, so no token can be verified; try again shortly."
        }
    }
}
