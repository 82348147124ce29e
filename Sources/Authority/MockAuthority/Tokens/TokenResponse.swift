import Basics
import JSON
import OpenSSL
import Tokens

/// A successful response of the token endpoint (RFC 6749 section 5.1), in the form of one of the services.
protocol TokenResponse: Sendable {
    /// The refresh token and its lifetime in seconds.
    var refreshToken: (text: String, lifetime: Int64)? { get set }

    /// The members in the order of the service; `clientInfo` is whether the client sent `client_info=1`.
    func json(clientInfo: Bool) -> JSONValue
}

/// The response of B2C.
struct B2CTokenResponse: TokenResponse {
    /// The access token, if a resource was requested.
    let accessToken: String?
    /// The ID token, if `openid` was requested.
    let idToken: String?
    /// The refresh token and its lifetime in seconds.
    var refreshToken: (text: String, lifetime: Int64)?

    private let granted: GrantedRequest
    private let configuration: Configuration
    private let era: Era

    /// Signs the tokens that the scope asks for; the era is that of the response, not that of the tokens.
    init(
        signing granted: GrantedRequest, _ configuration: Configuration, _ signer: TokenSigner, era: Era
    ) throws(PrivateKeyError) {
        self.granted = granted
        self.configuration = configuration
        self.era = era
        let claims = ClaimsBuilder(configuration: configuration, granted: granted)
        let accessToken = try claims.accessToken(signedBy: signer)
        var idToken: String?
        if granted.scope.openID || era.identifiesAlways {
            idToken = try signer.sign(claims.idToken(for: accessToken, code: nil))
        }
        self.accessToken = accessToken
        self.idToken = idToken
    }

    /// The members in the order of the service (docs/reproduced.md, "Token responses").
    ///
    /// Clients that send `client_info=1` get another set of members.
    func json(clientInfo: Bool) -> JSONValue {
        var members = JSONObject()
        let lifetime = configuration.behaviour.lifetimes.token
        members["access_token"] = accessToken.map { .string($0) }
        members["id_token"] = idToken.map { .string($0) }
        members["token_type"] = "Bearer"
        members["not_before"] = number(granted.now)
        if accessToken != nil {
            members["expires_in"] = number(lifetime)
            members["expires_on"] = number(granted.now + lifetime)
            members["resource"] = granted.scope.audience.map { .string($0) }
        }
        if clientInfo {
            members["client_info"] = .string(granted.clientInformation(configuration))
        } else {
            if idToken != nil { members["id_token_expires_in"] = number(lifetime) }
            members["profile_info"] = .string(profileInformation)
        }
        let scope = clientInfo && accessToken != nil ? granted.scope.resourceWords : granted.scope.asked
        members["scope"] = .string(scope.joined(separator: " "))
        if let refreshToken {
            members["refresh_token"] = .string(refreshToken.text)
            members["refresh_token_expires_in"] = number(refreshToken.lifetime)
        }
        return .object(members)
    }

    private func number(_ value: Int64) -> JSONValue { era.number(value) }

    private var profileInformation: String {
        encoded([
            "ver": "1.0", "tid": .string(configuration.tenant.id), "sub": .null,
            "name": .string(granted.user.name.display),
            "preferred_username": era.identifiesAlways ? .string(granted.user.signInName) : .null,
            "idp": .string(granted.user.status.identityProvider ?? "LocalAccount"),
        ])
    }
}

extension User {
    /// The name by which the person signs in, never empty.
    ///
    /// ADAL compares it with its own copy, which is in lower case.
    fileprivate var signInName: String { email.isEmpty ? objectID : email.lowercased() }
}

extension GrantedRequest {
    /// The account, for the account cache of MSAL: only B2C names the policy in it.
    func clientInformation(_ configuration: Configuration) -> String {
        let policy = configuration.profile == .b2c ? "-\(policy.name.lowercased())" : ""
        return encoded(["uid": .string(user.objectID + policy), "utid": .string(configuration.tenant.id)])
    }
}

private func encoded(_ value: JSONValue) -> String {
    Base64URL.encode(value.serialized())
}
