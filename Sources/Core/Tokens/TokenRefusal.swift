/// Why a token was refused, with one case for each rule, of which the client sees only ``outcome``.
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
