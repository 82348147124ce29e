import Basics
import JSON
import OpenSSL
import Tokens

/// Makes a bad token, for the rows of the table of bad tokens.
struct BadTokenSigner: Sendable {
    let authority: TenantAuthority
    let granted: GrantedRequest
    let claims: any TokenClaims
    let signer: TokenSigner
    /// Scheme and host of the request.
    let base: String

    var configuration: Configuration { authority.configuration }
    var tenant: Tenant { configuration.tenant }
    /// Seconds since 1970.
    var now: Int64 { granted.now }
    var audience: String { granted.scope.audience ?? granted.client.id }
    var scopeClaim: String { configuration.profile == .strict ? "scope" : "scp" }

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
        return EntraClaims(application: daemon, configuration, issuer: configuration.entraIssuer(at: base), now)
            .application(audience)
    }

    /// The claims of the same person in another tenant.
    func move(_ claims: inout JSONObject, to other: String, at base: String) {
        claims["iss"] = .string(configuration.entraIssuer(at: base, tenant: other))
        claims["tid"] = .string(other)
    }

    func header(_ algorithm: String) -> JSONObject {
        var header = signer.header
        header["alg"] = .string(algorithm)
        return header
    }

    /// Signs two texts that are no objects which this program would write.
    func sign(_ header: [UInt8], _ payload: [UInt8]) throws(PrivateKeyError) -> String {
        let input = Base64URL.encode(header) + "." + Base64URL.encode(payload)
        return input + "." + Base64URL.encode(try signer.key.privateKey.sign(Array(input.utf8)))
    }

    /// A token without a signature, up to the last dot.
    func unsigned(_ algorithm: String, _ claims: JSONObject) -> String {
        TokenSigner.input(header: header(algorithm), payload: claims.bytes) + "."
    }

    /// A token with an HMAC: a checker that takes the public key for a secret accepts it (RFC 8725 section 2.1).
    func authenticated(_ claims: JSONObject, kid: String? = nil, secret: String) -> String {
        var header = header("HS256")
        if let kid { header["kid"] = .string(kid) }
        let input = TokenSigner.input(header: header, payload: claims.bytes)
        let tag = HMACSHA256.authenticate(key: Array(secret.utf8), message: Array(input.utf8))
        return input + "." + Base64URL.encode(tag)
    }
}
