import JSON

/// The tokens with one defect each, by name (P-40).
///
/// docs/reproduced.md describes the claims of good ones. Some of these are good, and only look otherwise.
enum BadToken: String, Sendable, CaseIterable {
    case expired
    case notYetValid = "not-yet-valid"
    case noExp = "no-exp"
    case wrongAud = "wrong-aud"
    case audArray = "aud-array"
    case wrongIss = "wrong-iss"
    case issWithoutSlash = "iss-without-slash"
    case wrongTenant = "wrong-tenant"
    case wrongPolicy = "wrong-policy"
    case acrOnly = "acr-only"
    case noPolicy = "no-policy"
    case wrongScp = "wrong-scp"
    case noScp = "no-scp"
    case idToken = "id-token"
    case unknownKid = "unknown-kid"
    case noKid = "no-kid"
    case unpublishedKey = "unpublished-key"
    case retiredKey = "retired-key"
    case badSignature = "bad-signature"
    case truncated
    case algNone = "alg-none"
    case hs256WithPublicKey = "hs256-with-public-key"
    case rs512
    case typOther = "typ-other"
    case critHeader = "crit-header"
    case huge
    case notJSON = "not-json"
    // Published holes of validators, which docs/token-validation.md lists by their CVE numbers.
    case algNoneMixedCase = "alg-none-mixed-case"
    case emptySignature = "empty-signature"
    case hs256EmptySecret = "hs256-empty-secret"
    case kidPath = "kid-path"
    case kidSQL = "kid-sql"
    case jwkHeader = "jwk-header"
    case jkuHeader = "jku-header"
    case x5uHeader = "x5u-header"
    case x5cHeader = "x5c-header"
    case otherKeySameKid = "other-key-same-kid"
    case ps256
    case es256OwnKey = "es256-own-key"
    case es256ZeroSignature = "es256-zero-signature"
    case nested
    case encrypted
    case manyDots = "many-dots"
    case otherClaims = "other-claims"
    case duplicateClaim = "duplicate-claim"
    case duplicateAlg = "duplicate-alg"
    case issArray = "iss-array"
    case issPart = "iss-part"
    case noIss = "no-iss"
    case audEmpty = "aud-empty"
    case noAud = "no-aud"
    case expText = "exp-text"
    // Only External ID and Entra issue tokens in which the following can be wrong.
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

/// A row of `/_mock/token/bad`.
struct BadTokenEntry: Sendable {
    /// The response of task-server to a request with the token.
    enum Response: Sendable {
        case good, invalid, expired, scope

        var status: Int64 {
            switch self {
            case .good: 200
            case .invalid, .expired: 401
            case .scope: 403
            }
        }

        /// The `code` of the problem; `nil` for a good response.
        var code: String? {
            switch self {
            case .good: nil
            case .invalid: "token.invalid"
            case .expired: "token.expired"
            case .scope: "token.scope"
            }
        }
    }

    let bad: BadToken
    /// The services whose tokens can have the defect.
    fileprivate(set) var services: [TenantProfile]
    /// The response of a server whose one source is the tenant, and that requires no scopes.
    fileprivate(set) var response: Response
    /// The response of a server that requires the scopes of the mock.
    fileprivate(set) var responseWithScopes: Response
    /// What is wrong with the token, for people.
    let words: String

    /// Name, expected response, defect, and the response with scopes where it differs.
    var line: String {
        let name = bad.rawValue + String(repeating: " ", count: 22 - bad.rawValue.utf8.count)
        let code = response.code ?? "-"
        let padding = String(repeating: " ", count: 14 - code.utf8.count)
        let (scoped, scopedCode) = (responseWithScopes.status, responseWithScopes.code ?? "-")
        let tail = responseWithScopes == response ? "" : " (\(scoped) \(scopedCode) where scopes are configured)"
        return "\(name) \(response.status) \(code)\(padding) \(words)\(tail)"
    }

    var json: JSONValue {
        [
            "name": .string(bad.rawValue), "status": .integer(response.status),
            "code": response.code.map { .string($0) } ?? .null, "statusWithScopes": .integer(responseWithScopes.status),
            "codeWithScopes": responseWithScopes.code.map { .string($0) } ?? .null, "words": .string(words),
            "danger": bad.rule.map { .string($0.danger) } ?? .null,
            "forbiddenBy": bad.rule.map { .string($0.source) } ?? .null,
        ]
    }
}

extension BadToken {
    /// The rows for tokens of a service, in the order of the list.
    static func entries(of profile: TenantProfile) -> [BadTokenEntry] {
        allCases.compactMap { $0.entry(in: profile) }
    }

    /// The row for tokens of a service; `nil` if its tokens cannot have the defect.
    func entry(in profile: TenantProfile) -> BadTokenEntry? {
        var entry = row
        guard entry.services.contains(profile) else { return nil }
        // A source of Microsoft knows an ID token (P-28), and takes a token without scopes for an application's (P-27).
        if profile != .b2c, [.idToken, .noScp].contains(self) { entry.response = .invalid }
        if profile != .b2c, self == .idToken { entry.responseWithScopes = .invalid }
        return entry
    }

    private func row(
        _ words: String, of services: [TenantProfile] = TenantProfile.allCases,
        is response: BadTokenEntry.Response = .invalid, withScopes: BadTokenEntry.Response? = nil
    ) -> BadTokenEntry {
        BadTokenEntry(
            bad: self, services: services, response: response, responseWithScopes: withScopes ?? response, words: words)
    }

    private static let microsoft: [TenantProfile] = [.externalID, .entra]

    private var row: BadTokenEntry {
        let microsoft = Self.microsoft
        return switch self {
        case .expired: row("exp is an hour ago", is: .expired)
        case .notYetValid: row("nbf is in an hour")
        case .noExp: row("without exp")
        case .wrongAud: row("aud is another application")
        case .audArray: row("aud is an array of the right application and another one")
        case .wrongIss: row("iss is another host")
        case .issWithoutSlash: row("iss lacks the slash at its end", of: [.b2c])
        case .wrongTenant: row("iss names another tenant", of: [.b2c])
        case .wrongPolicy: row("tfp is a policy that is not configured", of: [.b2c])
        case .acrOnly: row("the policy is in acr instead of tfp, as in custom policies", of: [.b2c], is: .good)
        case .noPolicy: row("without tfp and acr", of: [.b2c])
        case .wrongScp: row("scp is an unknown scope", is: .good, withScopes: .scope)
        case .noScp: row("an access token without scp", is: .good, withScopes: .scope)
        case .idToken: row("an ID token, as the old clients send", is: .good, withScopes: .scope)
        case .unknownKid: row("kid names no key, the signature is by the active one")
        case .noKid: row("without kid")
        case .unpublishedKey: row("signed by a key that was never published")
        case .retiredKey: row("signed by a key that is no longer published")
        case .badSignature: row("one bit of the signature is wrong")
        case .truncated: row("the end of the signature is missing")
        case .algNone: row("alg is none, the signature empty")
        case .hs256WithPublicKey: row("alg is HS256, the secret is the public key in PEM")
        case .rs512: row("alg is RS512, correctly signed")
        case .typOther: row("typ is secevent+jwt")
        case .critHeader: row("crit demands an extension")
        case .huge: row("8.5 kB long")
        case .notJSON: row("the payload is not JSON, correctly signed")
        case .algNoneMixedCase: row("alg is nOnE, the signature empty")
        case .emptySignature: row("alg is right, the signature empty")
        case .hs256EmptySecret: row("alg is HS256, the secret is empty")
        case .kidPath: row("alg is HS256, kid is the path of an empty file, the secret is empty")
        case .kidSQL: row("alg is HS256, kid is SQL that yields the secret")
        case .jwkHeader: row("signed by a key of its own, which is in the header (jwk)")
        case .jkuHeader: row("signed by a key of its own, whose address is in the header (jku)")
        case .x5uHeader: row("signed by a key of its own, whose certificate's address is in the header (x5u)")
        case .x5cHeader: row("signed by a key of its own, whose certificate is in the header (x5c)")
        case .otherKeySameKid: row("signed by a key of its own, under the kid of the active one")
        case .ps256: row("alg is PS256, correctly signed")
        case .es256OwnKey: row("alg is ES256, signed by a key of its own, under the kid of the active one")
        case .es256ZeroSignature: row("alg is ES256, both numbers of the signature are 0")
        case .nested: row("the payload is a good token (cty is JWT), correctly signed")
        case .encrypted: row("the five parts of an encrypted and compressed token")
        case .manyDots: row("8000 dots")
        case .otherClaims: row("the claims of somebody else between header and signature of a good token")
        case .duplicateClaim: row("oid occurs twice, the second is right, correctly signed")
        case .duplicateAlg: row("alg occurs twice, the second is right, correctly signed")
        case .issArray: row("iss is an array of the right issuer and another one")
        case .issPart: row("iss is a part of the right issuer")
        case .noIss: row("without iss")
        case .audEmpty: row("aud is an empty array")
        case .noAud: row("without aud")
        case .expText: row("exp is a text")
        case .v1: row("version 1: ver is 1.0, iss is sts.windows.net, aud is the App ID URI", of: microsoft)
        case .graph: row("for Microsoft Graph, with a nonce in the header, which only Graph can verify", of: microsoft)
        // Without scp, a token of Microsoft is an application's (P-27).
        case .appOnly:
            row("of an application without a person: roles, no scp", of: microsoft, withScopes: .scope)
        case .appOnlyWithType: row("of an application, which says so in idtyp", of: microsoft, withScopes: .scope)
        case .noOID: row("without oid", of: microsoft)
        case .noTID: row("without tid", of: microsoft, is: .good)
        case .noProfile:
            row("as for a client that did not ask for the scope profile: without oid, tid and name", of: microsoft)
        case .tidMismatch: row("tid is another tenant than that of iss", of: microsoft)
        case .otherTenant: row("iss and tid are another tenant, signed by the same key", of: microsoft)
        case .loginHostIssuer:
            row("iss is at login.microsoftonline.com, as for clients with that authority", of: [.externalID])
        case .b2cIssuer: row("iss is that of Azure AD B2C for the same tenant", of: [.externalID])
        case .audienceAPI: row("aud is the App ID URI api://... in place of the application id", of: microsoft)
        case .scopeArray: row("scp is an array, as Okta writes it", of: microsoft, is: .good)
        case .scopeClaim: row("scope in place of scp", of: microsoft, withScopes: .scope)
        case .personalAccount: row("of a personal Microsoft account: iss and tid are 9188040d-...", of: microsoft)
        case .guest: row("of a guest, whose idp is the home tenant; a good token", of: microsoft, is: .good)
        case .longLived: row("valid for 28 hours, as for continuous access evaluation", of: microsoft)
        }
    }
}
