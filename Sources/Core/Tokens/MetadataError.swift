/// Why a provider's metadata is not trusted: one case for each rule (V-74).
package enum MetadataError: Error, Equatable, Sendable, CaseIterable {
    case notJSON, missingIssuer, missingKeySetURL
    case insecureSource, unexpectedIssuer, malformedIssuer, insecureIssuer, foreignIssuer, unrelatedIssuer
    case foreignTenant, openTenant
    case malformedKeySetURL, insecureKeySetURL, foreignKeySetURL

    /// Returns the fault and its remedy in one sentence; `setting` makes `TASKS_ISSUER` or the like of `ISSUER`.
    package func message(_ setting: (String) -> String) -> String {
        switch self {
        case .notJSON: "The metadata is not one JSON object; check that the address is that of a metadata document."
        case .missingIssuer: "The metadata has no issuer; check that the address is that of a metadata document."
        case .missingKeySetURL: "The metadata has no jwks_uri; check that the address is that of a metadata document."
        case .insecureSource:
            "The metadata would come over plain http; use https, or allow http with \(setting("ALLOW_HTTP_AUTHORITY"))."
        case .unexpectedIssuer:
            "The metadata names another issuer than \(setting("ISSUER")); correct that setting or the address."
        case .malformedIssuer:
            "The issuer in the metadata is no https address; pin it with \(setting("ISSUER")) if it is right."
        case .insecureIssuer:
            "The issuer in the metadata is a plain http address; pin it with \(setting("ISSUER")) if it is right."
        case .foreignIssuer:
            "The issuer in the metadata is on another host than the metadata; pin it with \(setting("ISSUER")) if it is right."
        case .unrelatedIssuer:
            "The issuer in the metadata does not belong to the address of the metadata; "
                + "correct the address, or pin the issuer with \(setting("ISSUER")) if it is right."
        case .foreignTenant: "The issuer in the metadata is that of another tenant; check the address."
        case .openTenant:
            "The issuer in the metadata is for many tenants; list those that may use this API in \(setting("TENANTS"))."
        case .malformedKeySetURL: "The jwks_uri in the metadata is no web address; ask the provider."
        case .insecureKeySetURL: "The jwks_uri in the metadata is plain http; keys must come over https."
        case .foreignKeySetURL:
            "The jwks_uri in the metadata is on another host than the metadata; "
                + "name that host in \(setting("KEY_HOSTS")) if it is the provider's."
        }
    }
}
