import Basics
import JSON
import OpenSSL
import Tokens

/// A token with one defect (P-40), and the response that it must get.
///
/// docs/reproduced.md describes the claims of good tokens. Some of the tokens here are good, too, and only look bad.
struct BadToken: Sendable {
    /// The response of task-server to a request with the token.
    struct Response: Sendable, Equatable {
        let status: Int64
        let code: String?

        static let good = Response(status: 200, code: nil)
        static let invalid = Response(status: 401, code: "token.invalid")
        static let expired = Response(status: 401, code: "token.expired")
        static let tooLong = Response(status: 401, code: "token.too_long")
        static let scope = Response(status: 403, code: "token.scope")
    }

    typealias Spoil = @Sendable (inout JSONObject, BadTokenSigner) -> Void
    /// Makes the token of claims, which the request may have changed.
    typealias Sign = @Sendable (BadTokenSigner, JSONObject) async throws -> String

    let name: String
    let words: String
    /// The rule that an API breaks if it accepts the token; `nil` if every API may decide for itself.
    let rule: BadTokenRule?
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
                return try $0.signer.sign(header: changed.bytes, payload: $1.bytes)
            })
    }

    /// A token without a claim, of which RFC 7519 leaves it to the API whether the claim must be there.
    static func without(_ claim: String, _ rule: BadTokenRule, _ remedy: String? = nil) -> BadToken {
        let missing = BadTokenRule(
            kind: .setting, danger: rule.danger,
            source: "RFC 9068 section 2.2, by which access tokens have \(claim)", remedy: remedy ?? rule.remedy)
        return BadToken("no-\(claim)", missing, "without \(claim)", claims: [claim: nil])
    }

    static let withoutDefect = BadToken("", nil, "")

    static let all = ofClaims + ofSignatures + ofKnownHoles + ofMicrosoft

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
            "kind": .string(rule?.kind.rawValue ?? "note"), "danger": rule.map { .string($0.danger) } ?? .null,
            "forbiddenBy": rule.map { .string($0.source) } ?? .null,
            "remedy": rule.map { .string($0.remedy) } ?? .null,
        ]
    }
}

/// Why an API should not accept a token, what an attacker can do if the API accepts it, and what helps.
package struct BadTokenRule: Sendable {
    package enum Kind: String, Sendable, CaseIterable {
        /// The standard forbids it.
        case breach
        /// The standard leaves it to the API, which has to say that it wants more.
        case setting
    }

    package let kind: Kind
    /// What an attacker can do, as a sentence.
    package let danger: String
    package let source: String
    /// One line in the words of common libraries.
    package let remedy: String

    package init(kind: Kind = .breach, danger: String, source: String, remedy: String) {
        (self.kind, self.danger, self.source, self.remedy) = (kind, danger, source, remedy)
    }
}

// The rows of Static/bad-token-rules.txt: a name, then kind, danger, source and remedy.
extension BadTokenRule {
    static let table = TextTable(PackageResources.bad_token_rules_txt)

    private static func row(of name: String = #function) -> BadTokenRule {
        let lines = table[name]
        return BadTokenRule(
            kind: Kind(rawValue: lines[0]) ?? .breach, danger: lines[1], source: lines[2], remedy: lines[3])
    }

    static var signature: BadTokenRule { row() }
    static var algorithm: BadTokenRule { row() }
    /// A key of the issuer that the issuer withdrew, or a key of another issuer.
    package static var key: BadTokenRule { row() }
    package static var expiry: BadTokenRule { row() }
    static var timeAsText: BadTokenRule { row() }
    static var notBefore: BadTokenRule { row() }
    package static var issuer: BadTokenRule { row() }
    package static var audience: BadTokenRule { row() }
    static var kind: BadTokenRule { row() }
    static var criticalHeader: BadTokenRule { row() }
    package static var scope: BadTokenRule { row() }
    static var validation: BadTokenRule { row() }
    /// Another application of the same issuer, which is not named among those that may call.
    package static var caller: BadTokenRule { row() }
}

/// Makes a bad token, for the rows of the table of bad tokens.
struct BadTokenSigner: Sendable {
    let authority: TenantAuthority
    let keys: KeyRing
    let granted: GrantedRequest
    let claims: any TokenClaims
    let signer: TokenSigner
    let base: String

    var configuration: Configuration { authority.configuration }
    var tenant: Tenant { configuration.tenant }
    /// Seconds since 1970.
    var now: Int64 { granted.now }
    var audience: String { granted.scope.audience ?? granted.client.id }
    var scopeClaim: String { authority.provider.traits.scopeClaim }
    var entra: EntraClaims? { claims as? EntraClaims }

    /// Returns the token, whose claims are changed last.
    func sign(_ bad: BadToken, _ changes: ClaimChanges) async throws(InputError) -> String {
        var spoiled = claims.good(for: granted.scope.audience)
        bad.spoil(&spoiled, self)
        changes.apply(to: &spoiled, now: now, lifetime: claims.lifetime)
        do {
            return try await bad.sign(self, spoiled)
        } catch {
            throw .noKey
        }
    }

    /// The claims of the first daemon's own token.
    var application: JSONObject {
        let daemon = configuration.applications.clients.first { $0.secret != nil } ?? granted.client
        return entra.map { EntraClaims($0.provider, application: daemon, now: now, at: base).application(audience) }
            ?? [:]
    }

    func move(_ claims: inout JSONObject, to other: String) {
        claims["iss"] = (entra?.provider.issuer(of: other, at: base)).map { .string($0) }
        claims["tid"] = .string(other)
    }

    func header(_ algorithm: String) -> JSONObject {
        var header = signer.header
        header["alg"] = .string(algorithm)
        return header
    }

    /// A good token around another one (RFC 7519 section 7.2, step 8).
    func nested(_ inner: String) throws(PrivateKeyError) -> String {
        var header = signer.header
        header["cty"] = "JWT"
        return try signer.sign(header: header.bytes, payload: Array(inner.utf8))
    }

    /// A token without a signature, up to the last dot.
    func unsigned(_ algorithm: String, _ claims: JSONObject) -> String {
        TokenSigner.input(header: header(algorithm).bytes, payload: claims.bytes) + "."
    }

    /// A token with an HMAC: a checker that takes the public key for a secret accepts it (RFC 8725 section 2.1).
    func authenticated(_ claims: JSONObject, kid: String? = nil, secret: String) -> String {
        var header = header("HS256")
        if let kid { header["kid"] = .string(kid) }
        let input = TokenSigner.input(header: header.bytes, payload: claims.bytes)
        let tag = HMACSHA256.authenticate(key: Array(secret.utf8), message: Array(input.utf8))
        return input + "." + Base64URL.encode(tag)
    }
}

extension TokenClaims {
    /// The claims of an access token for this audience; of an ID token if there is none.
    func good(for audience: String?) -> JSONObject {
        audience.map(accessToken(audience:)) ?? idToken(for: nil, code: nil)
    }
}
