import JSON
import OpenSSL

/// The response of the token endpoint of External ID and Entra (docs/reproduced.md, "Token responses").
struct EntraTokenResponse: TokenResponse {
    var refreshToken: (text: String, lifetime: Int64)?
    private let claims: EntraClaims
    private let accessToken: String?
    /// The ID token, if `openid` was requested.
    private let idToken: String?

    /// Signs the tokens.
    init(signing claims: EntraClaims, _ signer: TokenSigner) throws(PrivateKeyError) {
        self.claims = claims
        accessToken = try claims.accessToken(signedBy: signer)
        // Hashes of the access token are in the ID tokens of the authorization endpoint only.
        idToken = claims.granted.scope.openID ? try signer.sign(claims.idToken()) : nil
    }

    func json(clientInfo: Bool) -> JSONValue {
        let granted = claims.granted
        var members = JSONObject([
            ("token_type", "Bearer"), ("scope", .string(shownScope)), ("expires_in", .integer(claims.lifetime)),
            ("ext_expires_in", .integer(claims.lifetime)),
        ])
        members["access_token"] = accessToken.map { .string($0) }
        members["refresh_token"] = refreshToken.map { .string($0.text) }
        members["id_token"] = idToken.map { .string($0) }
        if clientInfo { members["client_info"] = .string(granted.clientInformation(claims.configuration)) }
        return .object(members)
    }

    /// The granted scope, without `offline_access`, which the service never names.
    private var shownScope: String {
        claims.granted.scope.asked.filter { $0 != "offline_access" }.joined(separator: " ")
    }

    /// The response to a daemon.
    static func application(_ token: String, _ lifetime: Int64) -> JSONValue {
        [
            "token_type": "Bearer", "expires_in": .integer(lifetime), "ext_expires_in": .integer(lifetime),
            "access_token": .string(token),
        ]
    }
}
