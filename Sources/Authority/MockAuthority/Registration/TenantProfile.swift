/// The services of Microsoft that a tenant can belong to (docs/reproduced.md).
package enum TenantProfile: String, Sendable, CaseIterable {
    /// Azure AD B2C.
    case b2c
    /// Entra External ID: external tenants, at ciamlogin.com.
    case externalID = "external-id"
    /// Entra ID: workforce tenants, at login.microsoftonline.com.
    case entra
}

/// Which host the issuers of External ID and Entra name.
package enum IssuerHost: String, Sendable, CaseIterable {
    /// `https://G.ciamlogin.com/G/v2.0` and `https://login.microsoftonline.com/G/v2.0`, wherever the mock listens.
    case service
    /// The host of each request, for clients that insist on one host for metadata and issuer.
    case request
}
