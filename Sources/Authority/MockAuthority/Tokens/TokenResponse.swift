import Basics
import JSON
import OpenSSL
import Tokens

/// A successful response of the token endpoint (RFC 6749 section 5.1), in the form of one of the services.
struct TokenResponse: Sendable {
    /// The refresh token and its lifetime in seconds.
    var refreshToken: (text: String, lifetime: Int64)?
    private let accessToken: String?
    private let idToken: String?
    private let granted: GrantedRequest
    private let configuration: Configuration
    private let lifetime: Int64
    private let era: Era

    /// Signs the tokens that the scope asks for.
    ///
    /// `base` is scheme and host of the request. The era is that of B2C's response, not that of the tokens.
    init(
        signing granted: GrantedRequest, of authority: TenantAuthority, by signer: TokenSigner, at base: String,
        era: Era
    ) throws(PrivateKeyError) {
        self.granted = granted
        self.era = era
        configuration = authority.configuration
        let claims = authority.claims(of: granted, at: base)
        lifetime = claims.lifetime
        let accessToken = try claims.accessToken(signedBy: signer)
        self.accessToken = accessToken
        let profile = configuration.profile
        guard granted.scope.openID || profile == .b2c && era.identifiesAlways else {
            idToken = nil
            return
        }
        // Entra has hashes of the access token in the ID tokens of the authorization endpoint only.
        idToken = try signer.sign(claims.idToken(for: profile.isEntra ? nil : accessToken, code: nil))
    }

    /// The members in the order of the service (docs/reproduced.md, "Token responses").
    ///
    /// `clientInfo` is whether the client sent `client_info=1`.
    func json(clientInfo: Bool) -> JSONValue {
        switch configuration.profile {
        case .b2c: .object(b2c(clientInfo))
        case .externalID, .entra: .object(entra(clientInfo))
        case .strict: .object(strict)
        }
    }

    /// Clients that send `client_info=1` get another set of members.
    private func b2c(_ clientInfo: Bool) -> JSONObject {
        var members = JSONObject()
        members["access_token"] = accessToken.map { .string($0) }
        members["id_token"] = idToken.map { .string($0) }
        members["token_type"] = "Bearer"
        members["not_before"] = era.number(granted.now)
        if accessToken != nil {
            members["expires_in"] = era.number(lifetime)
            members["expires_on"] = era.number(granted.now + lifetime)
            members["resource"] = granted.scope.audience.map { .string($0) }
        }
        if clientInfo {
            members["client_info"] = .string(granted.clientInformation(configuration))
        } else {
            if idToken != nil { members["id_token_expires_in"] = era.number(lifetime) }
            members["profile_info"] = .string(profileInformation)
        }
        let scope = clientInfo && accessToken != nil ? granted.scope.resourceWords : granted.scope.asked
        members["scope"] = .string(scope.joined(separator: " "))
        if let refreshToken {
            members["refresh_token"] = .string(refreshToken.text)
            members["refresh_token_expires_in"] = era.number(refreshToken.lifetime)
        }
        return members
    }

    private var profileInformation: String {
        // ADAL compares the name with its own copy, which is in lower case.
        let name = granted.user.email.isEmpty ? granted.user.objectID : granted.user.email.lowercased()
        let profile: JSONObject = [
            "ver": "1.0", "tid": .string(configuration.tenant.id), "sub": .null,
            "name": .string(granted.user.name.display),
            "preferred_username": era.identifiesAlways ? .string(name) : .null,
            "idp": .string(granted.user.status.identityProvider ?? "LocalAccount"),
        ]
        return Base64URL.encode(profile.bytes)
    }

    private func entra(_ clientInfo: Bool) -> JSONObject {
        // The service never names `offline_access`.
        let scope = granted.scope.asked.filter { $0 != "offline_access" }.joined(separator: " ")
        var members: JSONObject = [
            "token_type": "Bearer", "scope": .string(scope), "expires_in": .integer(lifetime),
            "ext_expires_in": .integer(lifetime),
        ]
        members["access_token"] = accessToken.map { .string($0) }
        members["refresh_token"] = refreshToken.map { .string($0.text) }
        members["id_token"] = idToken.map { .string($0) }
        if clientInfo { members["client_info"] = .string(granted.clientInformation(configuration)) }
        return members
    }

    private var strict: JSONObject {
        var members: JSONObject = ["token_type": "Bearer", "expires_in": .integer(lifetime)]
        members["access_token"] = accessToken.map { .string($0) }
        members["scope"] = .string(granted.scope.text)
        members["id_token"] = idToken.map { .string($0) }
        members["refresh_token"] = refreshToken.map { .string($0.text) }
        return members
    }
}

extension GrantedRequest {
    /// The account, for the account cache of MSAL: only B2C names the policy in it.
    func clientInformation(_ configuration: Configuration) -> String {
        let policy = configuration.profile == .b2c ? "-\(policy.name.lowercased())" : ""
        let account: JSONObject = ["uid": .string(user.objectID + policy), "utid": .string(configuration.tenant.id)]
        return Base64URL.encode(account.bytes)
    }
}
