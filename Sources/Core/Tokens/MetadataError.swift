/// Why a provider's metadata is not trusted: one case for each rule (V-74).
package enum MetadataError: Error, Equatable, Sendable, CaseIterable {
    case notJSON, missingIssuer, missingKeySetURL
    case insecureSource, unexpectedIssuer, malformedIssuer, insecureIssuer, foreignIssuer, unrelatedIssuer
    case foreignTenant
    case malformedKeySetURL, insecureKeySetURL, foreignKeySetURL

    /// What is wrong and what to do, in one sentence.
    package var message: String {
        switch self {
        case .notJSON: "The metadata is not one JSON object; check that the address is that of a metadata document."
        case .missingIssuer: "The metadata has no issuer; check that the address is that of a metadata document."
        case .missingKeySetURL: "The metadata has no jwks_uri; check that the address is that of a metadata document."
        case .insecureSource:
            "The metadata would come over plain http; use https, or allow http with TASKS_ALLOW_HTTP_AUTHORITY."
        case .unexpectedIssuer:
            "The metadata names another issuer than TASKS_ISSUER; correct that setting or the address."
        case .malformedIssuer:
            "The issuer in the metadata is no https address; pin it with TASKS_ISSUER if it is right."
        case .insecureIssuer:
            "The issuer in the metadata is a plain http address; pin it with TASKS_ISSUER if it is right."
        case .foreignIssuer:
            "The issuer in the metadata is on another host than the metadata; pin it with TASKS_ISSUER if it is right."
        case .unrelatedIssuer:
            "The issuer in the metadata does not belong to the address of the metadata; "
                + "correct the address, or pin the issuer with TASKS_ISSUER if it is right."
        case .foreignTenant: "The issuer in the metadata is that of another tenant; check the address."
        case .malformedKeySetURL: "The jwks_uri in the metadata is no web address; ask the provider."
        case .insecureKeySetURL: "The jwks_uri in the metadata is plain http; keys must come over https."
        case .foreignKeySetURL: "The jwks_uri in the metadata is on another host than the metadata; ask the provider."
        }
    }
}
