extension TokenRefusal {
    /// A short name of the rule that does not change, for logs and metrics (V-132).
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
