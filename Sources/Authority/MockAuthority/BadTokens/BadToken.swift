import JSON

/// A token with one defect (P-40), and the response that it must get.
///
/// docs/reproduced.md describes the claims of good tokens. Some of the tokens here are good, too, and only look bad.
struct BadToken: Sendable {
    /// The response of task-server to a request with the token.
    struct Response: Sendable, Equatable {
        let status: Int64
        /// The `code` of the problem; `nil` for a good response.
        let code: String?

        static let good = Response(status: 200, code: nil)
        static let invalid = Response(status: 401, code: "token.invalid")
        static let expired = Response(status: 401, code: "token.expired")
        static let tooLong = Response(status: 401, code: "token.too_long")
        static let scope = Response(status: 403, code: "token.scope")
    }

    /// Changes the claims of a good token.
    typealias Spoil = @Sendable (inout JSONObject, BadTokenSigner) -> Void
    /// Makes the token of claims, which the request may have changed.
    typealias Sign = @Sendable (BadTokenSigner, JSONObject) async throws -> String

    let name: String
    /// What is wrong with the token, for people.
    let words: String
    /// The rule that an API breaks if it accepts the token; `nil` if every API may decide for itself.
    let rule: BadTokenRule?
    /// The services whose tokens can have the defect.
    let services: [TenantProfile]
    /// The response of a server whose one source is the tenant, and that requires no scopes.
    let response: Response
    /// The response of a server that requires the scopes of the mock.
    let responseWithScopes: Response
    let spoil: Spoil
    let sign: Sign

    /// A token that breaks a rule by its claims, correctly signed unless `sign` does something else.
    init(
        _ name: String, _ rule: BadTokenRule?, _ words: String, of services: [TenantProfile] = TenantProfile.allCases,
        is response: Response = .invalid, withScopes: Response? = nil, spoil: @escaping Spoil = { _, _ in },
        sign: @escaping Sign = { try $0.signer.sign($1) }
    ) {
        (self.name, self.words, self.rule, self.services) = (name, words, rule, services)
        (self.response, responseWithScopes) = (response, withScopes ?? response)
        (self.spoil, self.sign) = (spoil, sign)
    }

    /// A token in which these claims have these values, or are missing.
    init(
        _ name: String, _ rule: BadTokenRule?, _ words: String, of services: [TenantProfile] = TenantProfile.allCases,
        is response: Response = .invalid, claims: KeyValuePairs<String, JSONValue?>
    ) {
        self.init(
            name, rule, words, of: services, is: response,
            spoil: { good, _ in for (name, value) in claims { good[name] = value } })
    }

    /// A token in whose header these members have these values, or are missing.
    init(_ name: String, _ rule: BadTokenRule?, _ words: String, header: KeyValuePairs<String, JSONValue?>) {
        self.init(
            name, rule, words,
            sign: {
                var changed = $0.signer.header
                for (name, value) in header { changed[name] = value }
                return try $0.signer.sign(header: changed, payload: $1.bytes)
            })
    }

    /// No defect, for a token of which only the request changes claims.
    static let withoutDefect = BadToken("", nil, "")

    /// The tokens of every service, in the order of the list.
    static let all = ofClaims + ofSignatures + ofKnownHoles + ofMicrosoft

    /// The tokens of a service, in the order of the list.
    static func all(of profile: TenantProfile) -> [BadToken] { all.filter { $0.services.contains(profile) } }

    /// Name, expected response, defect, and the response with scopes where it differs.
    var line: String {
        func padded(_ text: String, _ width: Int) -> String {
            text + String(repeating: " ", count: width - text.utf8.count)
        }
        let (scoped, scopedCode) = (responseWithScopes.status, responseWithScopes.code ?? "-")
        let tail = responseWithScopes == response ? "" : " (\(scoped) \(scopedCode) where scopes are configured)"
        return "\(padded(name, 22)) \(response.status) \(padded(response.code ?? "-", 14)) \(words)\(tail)"
    }

    var json: JSONValue {
        [
            "name": .string(name), "status": .integer(response.status),
            "code": response.code.map { .string($0) } ?? .null, "statusWithScopes": .integer(responseWithScopes.status),
            "codeWithScopes": responseWithScopes.code.map { .string($0) } ?? .null, "words": .string(words),
            "danger": rule.map { .string($0.danger) } ?? .null,
            "forbiddenBy": rule.map { .string($0.source) } ?? .null,
        ]
    }
}
