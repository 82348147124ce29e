/// The tokens of External ID and Entra with one defect each, by name (P-40).
///
/// docs/reproduced.md describes the claims of a good one; some of these are good, and only look otherwise.
package enum EntraBadToken: String, Sendable, CaseIterable {
    case v1
    case graph
    case appOnly = "app-only"
    case appOnlyWithType = "app-only-with-idtyp"
    case noOID = "no-oid"
    case noTID = "no-tid"
    case noProfile = "no-profile"
    case tidMismatch = "tid-mismatch"
    case otherTenant = "other-tenant"
    case loginHostIssuer = "login-host-issuer"
    case b2cIssuer = "b2c-issuer"
    case audienceAPI = "aud-api-uri"
    case scopeArray = "scp-array"
    case scopeClaim = "scope-claim"
    case personalAccount = "personal-account"
    case guest
    case longLived = "cae-28h"
}

extension EntraBadToken {
    /// Whether the service of the profile can give such a token.
    func isKnown(to profile: TenantProfile) -> Bool {
        switch self {
        case .loginHostIssuer, .b2cIssuer: profile == .externalID
        case .v1, .graph, .appOnly, .appOnlyWithType, .noOID, .noTID, .noProfile, .tidMismatch, .otherTenant,
            .audienceAPI, .scopeArray, .scopeClaim, .personalAccount, .guest, .longLived:
            profile != .b2c
        }
    }

    /// The response of task-server where no scopes are configured, to a source of one tenant with the defaults of its kind.
    package var expectedResponse: ExpectedResponse {
        switch self {
        case .noTID, .scopeArray, .guest: .good
        case .v1, .graph, .appOnly, .appOnlyWithType, .noOID, .noProfile, .tidMismatch, .otherTenant, .loginHostIssuer,
            .b2cIssuer, .audienceAPI, .scopeClaim, .personalAccount, .longLived:
            .invalid
        }
    }

    /// The response where the scopes of the mock are configured.
    package var expectedResponseWithScopes: ExpectedResponse {
        switch self {
        // Without scp, a token of Microsoft is an application's (P-27).
        case .appOnly, .appOnlyWithType, .scopeClaim: .scope
        case .v1, .graph, .noOID, .noTID, .noProfile, .tidMismatch, .otherTenant, .loginHostIssuer, .b2cIssuer,
            .audienceAPI, .scopeArray, .personalAccount, .guest, .longLived:
            expectedResponse
        }
    }

    /// What is wrong with it, for people.
    package var defect: String {
        switch self {
        case .v1: "version 1: ver is 1.0, iss is sts.windows.net, aud is the App ID URI"
        case .graph: "for Microsoft Graph, with a nonce in the header, which only Graph can verify"
        case .appOnly: "of an application without a person: roles, no scp"
        case .appOnlyWithType: "of an application, which says so in idtyp"
        case .noOID: "without oid"
        case .noTID: "without tid"
        case .noProfile: "as for a client that did not ask for the scope profile: without oid, tid and name"
        case .tidMismatch: "tid is another tenant than that of iss"
        case .otherTenant: "iss and tid are another tenant, signed by the same key"
        case .loginHostIssuer: "iss is at login.microsoftonline.com, as for clients with that authority"
        case .b2cIssuer: "iss is that of Azure AD B2C for the same tenant"
        case .audienceAPI: "aud is the App ID URI api://... in place of the application id"
        case .scopeArray: "scp is an array, as Okta writes it"
        case .scopeClaim: "scope in place of scp"
        case .personalAccount: "of a personal Microsoft account: iss and tid are 9188040d-..."
        case .guest: "of a guest, whose idp is the home tenant; a good token"
        case .longLived: "valid for 28 hours, as for continuous access evaluation"
        }
    }
}
