import JSON

/// The tokens with one defect each, by name.
///
/// docs/reproduced.md describes the claims of a good one.
package enum BadToken: String, Sendable, CaseIterable {
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
}

/// The response of task-server to a request with a token.
package struct ExpectedResponse: Sendable, Equatable {
    package let status: Int
    /// The `code` of the problem; `nil` for a good response.
    package let code: String?

    static let good = ExpectedResponse(status: 200, code: nil)
    static let invalid = ExpectedResponse(status: 401, code: "token.invalid")
    static let expired = ExpectedResponse(status: 401, code: "token.expired")
    static let scope = ExpectedResponse(status: 403, code: "token.scope")
}

extension BadToken {
    /// The response where no scopes are configured.
    package var expectedResponse: ExpectedResponse {
        switch self {
        case .expired: .expired
        case .acrOnly, .wrongScp, .noScp, .idToken: .good
        case .notYetValid, .noExp, .wrongAud, .audArray, .wrongIss, .issWithoutSlash, .wrongTenant, .wrongPolicy,
            .noPolicy, .unknownKid, .noKid, .unpublishedKey, .retiredKey, .badSignature, .truncated, .algNone,
            .hs256WithPublicKey, .rs512, .typOther, .critHeader, .huge, .notJSON:
            .invalid
        }
    }

    /// The response where `TASKS_READ_SCOPE` and `TASKS_WRITE_SCOPE` are the scopes of the mock.
    package var expectedResponseWithScopes: ExpectedResponse {
        switch self {
        case .wrongScp, .noScp, .idToken: .scope
        case .acrOnly, .expired, .notYetValid, .noExp, .wrongAud, .audArray, .wrongIss, .issWithoutSlash,
            .wrongTenant, .wrongPolicy, .noPolicy, .unknownKid, .noKid, .unpublishedKey, .retiredKey, .badSignature,
            .truncated, .algNone, .hs256WithPublicKey, .rs512, .typOther, .critHeader, .huge, .notJSON:
            expectedResponse
        }
    }

    /// What is wrong with it, for people.
    package var defect: String {
        switch self {
        case .expired: "exp is an hour ago"
        case .notYetValid: "nbf is in an hour"
        case .noExp: "without exp"
        case .wrongAud: "aud is another application"
        case .audArray: "aud is an array of the right application and another one"
        case .wrongIss: "iss is another host"
        case .issWithoutSlash: "iss lacks the slash at its end"
        case .wrongTenant: "iss names another tenant"
        case .wrongPolicy: "tfp is a policy that is not configured"
        case .acrOnly: "the policy is in acr instead of tfp, as in custom policies"
        case .noPolicy: "without tfp and acr"
        case .wrongScp: "scp is an unknown scope"
        case .noScp: "an access token without scp"
        case .idToken: "an ID token, as the old clients send"
        case .unknownKid: "kid names no key, the signature is by the active one"
        case .noKid: "without kid"
        case .unpublishedKey: "signed by a key that was never published"
        case .retiredKey: "signed by a key that is no longer published"
        case .badSignature: "one bit of the signature is wrong"
        case .truncated: "the end of the signature is missing"
        case .algNone: "alg is none, the signature empty"
        case .hs256WithPublicKey: "alg is HS256, the secret is the public key in PEM"
        case .rs512: "alg is RS512, correctly signed"
        case .typOther: "typ is secevent+jwt"
        case .critHeader: "crit demands an extension"
        case .huge: "8.5 kB long"
        case .notJSON: "the payload is not JSON, correctly signed"
        }
    }
}

/// A row of `/_mock/token/bad`.
struct BadTokenEntry: Sendable {
    let name: String
    let expectedResponse: ExpectedResponse
    /// Where scopes are configured.
    let expectedResponseWithScopes: ExpectedResponse
    let defect: String

    /// Name, expected response, defect, and the response with scopes where it differs.
    var line: String {
        let name = name + String(repeating: " ", count: 22 - name.utf8.count)
        let code = expectedResponse.code ?? "-"
        let padding = String(repeating: " ", count: 14 - code.utf8.count)
        let other = expectedResponseWithScopes
        let tail =
            other == expectedResponse ? "" : " (\(other.status) \(other.code ?? "-") where scopes are configured)"
        return "\(name) \(expectedResponse.status) \(code)\(padding) \(defect)\(tail)"
    }

    var json: JSONValue {
        let (plain, scoped) = (expectedResponse, expectedResponseWithScopes)
        return [
            "name": .string(name), "status": .integer(Int64(plain.status)),
            "code": plain.code.map { .string($0) } ?? .null, "statusWithScopes": .integer(Int64(scoped.status)),
            "codeWithScopes": scoped.code.map { .string($0) } ?? .null, "words": .string(defect),
        ]
    }
}
