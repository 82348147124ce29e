internal import Basics
internal import JSON
internal import OpenSSL
import Tokens

/// The tokens of one answer and the shape in which the token endpoint gives them.
struct TokenReply: Sendable {
    /// The access token, if a resource was asked for.
    var accessToken: String?
    /// The ID token, if `openid` was asked for.
    var idToken: String?
    /// The refresh token and the seconds that it lives.
    var refreshToken: (text: String, lifetime: Int64)?

    private let issue: Issue
    private let configuration: Configuration

    /// Signs what the issue asks for.
    init(_ issue: Issue, _ configuration: Configuration, signer: TokenSigner) throws(RSAError) {
        self.issue = issue
        self.configuration = configuration
        let claims = ClaimsBuilder(configuration: configuration, issue: issue)
        if let audience = issue.scope.audience {
            accessToken = try signer.sign(claims.accessToken(audience: audience))
        }
        if issue.scope.openID || configuration.behaviour.era.identifiesAlways {
            var identity = claims.idToken
            identity["at_hash"] = accessToken.map(TokenSigner.hash)
            idToken = try signer.sign(identity)
        }
    }

    /// The members in the order of captured replies; clients that send `client_info=1` get another set of them.
    func json(clientInfo: Bool) -> JSONValue {
        var reply = JSONObject()
        let lifetime = configuration.behaviour.lifetimes.token
        reply["access_token"] = accessToken.map { .string($0) }
        reply["id_token"] = idToken.map { .string($0) }
        reply["token_type"] = "Bearer"
        reply["not_before"] = number(issue.now - configuration.behaviour.notBeforeSlack)
        if accessToken != nil {
            reply["expires_in"] = number(lifetime)
            reply["expires_on"] = number(issue.now + lifetime)
            reply["resource"] = issue.scope.audience.map { .string($0) }
        }
        if clientInfo {
            reply["client_info"] = .string(clientInformation)
        } else {
            if idToken != nil { reply["id_token_expires_in"] = number(lifetime) }
            reply["profile_info"] = .string(profileInformation)
        }
        let words = clientInfo && accessToken != nil ? issue.scope.resourceWords : issue.scope.asked
        reply["scope"] = .string(words.joined(separator: " "))
        if let refreshToken {
            reply["refresh_token"] = .string(refreshToken.text)
            reply["refresh_token_expires_in"] = number(refreshToken.lifetime)
        }
        return .object(reply)
    }

    private func number(_ value: Int64) -> JSONValue {
        configuration.behaviour.numbersAsStrings ? .string(String(value)) : .integer(value)
    }

    /// Who signed in, for the account cache of MSAL.
    var clientInformation: String {
        encoded([
            "uid": .string("\(issue.user.objectID)-\(issue.policy.name.lowercased())"),
            "utid": .string(configuration.tenant.id),
        ])
    }

    private var profileInformation: String {
        encoded([
            "ver": "1.0", "tid": .string(configuration.tenant.id), "sub": .null,
            "name": .string(issue.user.name.display),
            "preferred_username": configuration.behaviour.era.identifiesAlways ? .string(issue.user.email) : .null,
            "idp": .string(issue.user.standing.identityProvider ?? "LocalAccount"),
        ])
    }

    private func encoded(_ value: JSONValue) -> String {
        Base64URL.encode(value.serialized())
    }
}
