import Basics
import JSON
import OpenSSL
import Tokens

/// A successful response of the token endpoint (RFC 6749 section 5.1), whose members the provider names.
struct TokenResponse: Sendable {
    var refreshToken: (text: String, lifetime: Int64)?
    /// A code for the page of a web app.
    var pageCode: String?
    let accessToken: String?
    let idToken: String?
    let granted: GrantedRequest
    let lifetime: Int64
    /// The era of B2C's response, which is not that of the tokens.
    let era: Era

    init(signing claims: any TokenClaims, by signer: TokenSigner, era: Era) throws(PrivateKeyError) {
        (granted, lifetime, self.era) = (claims.granted, claims.lifetime, era)
        let accessToken = try claims.accessToken(signedBy: signer)
        self.accessToken = accessToken
        let identity = claims.idToken(ofTokenEndpoint: accessToken, era)
        idToken = try identity.map { identity throws(PrivateKeyError) in try signer.sign(identity) }
    }
}

extension GrantedRequest {
    /// The account, for the account cache of MSAL: only B2C names the policy in it.
    func clientInformation(_ provider: any Provider) -> String {
        let account: JSONObject = ["uid": .string(provider.accountID(self)), "utid": .string(provider.tenant.id)]
        return Base64URL.encode(account.bytes)
    }
}

/// Makes the compact form of tokens (RFC 7515 section 7.1).
struct TokenSigner: Sendable {
    var key: TokenSigningKey
    let headerBeginsWithAlgorithm: Bool
    var type = "JWT"
    /// The run whose tokens people see, and its time; `nil` for a token that is not finished when it is signed.
    var recording: (run: TestRun, now: Int64)?

    /// The header of the service; more members break clients, a missing `kid` does too.
    var header: JSONObject {
        let kid = JSONValue.string(key.identifier)
        return headerBeginsWithAlgorithm
            ? ["alg": "RS256", "kid": kid, "typ": .string(type)] : ["typ": .string(type), "alg": "RS256", "kid": kid]
    }

    func with(_ key: TokenSigningKey) -> TokenSigner {
        var signer = self
        signer.key = key
        return signer
    }

    /// Shows a token to the people who look at the run.
    func record(_ token: String) {
        if let recording { recording.run.issuedTokens.append(IssuedToken(time: recording.now, token: token)) }
    }

    func sign(_ claims: JSONObject) throws(PrivateKeyError) -> String {
        let token = try sign(header: header.bytes, payload: claims.bytes)
        record(token)
        return token
    }

    /// Signs two texts, which need not be objects that this program would write.
    func sign(
        header: [UInt8], payload: [UInt8], as algorithm: SignatureAlgorithm? = nil
    ) throws(PrivateKeyError) -> String {
        let input = Self.input(header: header, payload: payload)
        return input + "." + Base64URL.encode(try key.privateKey.sign(Array(input.utf8), as: algorithm))
    }

    static func input(header: [UInt8], payload: [UInt8]) -> String {
        Base64URL.encode(header) + "." + Base64URL.encode(payload)
    }

    /// The left half of the SHA-256 of a token or code: `at_hash` and `c_hash` (OpenID Connect Core 3.3.2.11).
    static func hash(_ text: String) -> JSONValue {
        .string(Base64URL.encode(Array(SHA256.digest(Array(text.utf8)).prefix(16))))
    }
}

extension JSONObject {
    var bytes: [UInt8] { JSONValue.object(self).serialized() }

    mutating func replace(by more: JSONObject) {
        for member in more.members { self[member.name] = member.value }
    }
}

extension JSONValue {
    /// The text, or nil where it is empty.
    static func nonEmpty(_ text: String) -> JSONValue? { text.isEmpty ? nil : .string(text) }
}
