import Basics
import JSON
import OpenSSL
import Tokens

/// Makes a bad token: a good one with exactly one defect.
struct BadTokenSigner: Sendable {
    let bad: BadToken
    let authority: TenantAuthority
    let granted: GrantedRequest
    /// The claims of a good token.
    let claims: any TokenClaims
    let signer: TokenSigner
    /// Scheme and host of the request.
    let base: String

    private static let hour: Int64 = 3600
    private static let hugeLength = 8704

    private var configuration: Configuration { authority.configuration }
    private var tenant: Tenant { configuration.tenant }

    /// Returns the token, whose claims are changed last.
    func sign(_ changes: ClaimChanges) async throws(PrivateKeyError) -> String {
        var claims = spoiledClaims
        changes.apply(to: &claims, now: granted.now, lifetime: self.claims.lifetime)
        let payload = JSONValue.object(claims).serialized()
        switch bad {
        case .unknownKid, .noKid, .typOther, .critHeader:
            return try signer.sign(header: spoiledHeader, payload: payload)
        case .unpublishedKey: return try signer.with(await authority.keys.unpublished()).sign(claims)
        case .retiredKey: return try signer.with(await authority.keys.retired()).sign(claims)
        case .personalAccount:
            return try signer.with(await (authority.personalKeys ?? authority.keys).signing()).sign(claims)
        case .badSignature: return withOtherBit(try signer.sign(claims))
        case .truncated: return String(try signer.sign(claims).dropLast(6))
        case .algNone: return TokenSigner.input(header: header("none"), payload: payload) + "."
        case .hs256WithPublicKey:
            return authenticated(header("HS256"), payload, secret: Array(signer.key.privateKey.publicPEM.utf8))
        case .rs512: return try signer.sign(header: header("RS512"), payload: payload, as: .rs512)
        case .huge: return try signer.sign(padded(claims))
        case .notJSON: return try signer.sign(header: signer.header, payload: Array("This is not JSON.".utf8))
        case .v1: return try signer.sign(header: signer.headerOfVersionOne, payload: payload)
        case .graph: return try signer.signGraphToken(claims)
        case .algNoneMixedCase, .emptySignature, .hs256EmptySecret, .kidPath, .kidSQL, .ps256, .es256OwnKey,
            .es256ZeroSignature:
            return try signOtherwise(payload)
        case .jwkHeader, .jkuHeader, .x5uHeader, .x5cHeader, .otherKeySameKid:
            let key = try await authority.keys.unpublished()
            return try signer.with(key).sign(header: offer(of: key), payload: payload)
        case .nested, .encrypted, .manyDots, .otherClaims, .duplicateClaim, .duplicateAlg:
            return try assemble(claims, payload)
        case .expired, .notYetValid, .noExp, .wrongAud, .audArray, .wrongIss, .issWithoutSlash, .wrongTenant,
            .wrongPolicy, .acrOnly, .noPolicy, .wrongScp, .noScp, .idToken, .appOnly, .appOnlyWithType, .noOID, .noTID,
            .noProfile, .tidMismatch, .otherTenant, .loginHostIssuer, .b2cIssuer, .audienceAPI, .scopeArray,
            .scopeClaim, .guest, .longLived, .issArray, .issPart, .noIss, .audEmpty, .noAud, .expText:
            return try signer.sign(claims)
        }
    }

    private var spoiledClaims: JSONObject {
        var good = claims.good(for: bad == .idToken ? nil : granted.scope.audience)
        let now = granted.now
        let scope = configuration.profile == .strict ? "scope" : "scp"
        switch bad {
        case .expired: ClaimChanges(expiry: -Self.hour).apply(to: &good, now: now, lifetime: Self.hour)
        case .notYetValid:
            good["nbf"] = .integer(now + Self.hour)
            good["exp"] = .integer(now + 2 * Self.hour)
        case .noExp: good["exp"] = nil
        case .wrongAud: good["aud"] = .string(Tenant.unknownID)
        case .audArray: good["aud"] = .array([good["aud"] ?? .null, .string(Tenant.unknownID)])
        case .wrongIss: good["iss"] = .string("https://login.example.org/\(tenant.id)/v2.0/")
        case .issWithoutSlash: good["iss"] = .string(String(configuration.issuer(of: granted.policy).dropLast()))
        case .wrongTenant: good["iss"] = .string("\(configuration.issuerBase)/\(Tenant.unknownID)/v2.0/")
        case .wrongPolicy: good["tfp"] = "b2c_1_not_configured"
        case .acrOnly: (good["tfp"], good["acr"]) = (nil, .string(granted.policy.name.lowercased()))
        case .noPolicy: (good["tfp"], good["acr"]) = (nil, nil)
        case .wrongScp: good[scope] = "tasks.other"
        case .noScp: good[scope] = nil
        case .v1: return (claims as? EntraClaims)?.versionOne ?? good
        case .graph: return (claims as? EntraClaims)?.graphToken ?? good
        case .appOnly: return application
        case .appOnlyWithType:
            good = application
            good["idtyp"] = "app"
        case .noOID: good["oid"] = nil
        case .noTID: good["tid"] = nil
        case .noProfile: for name in ["name", "oid", "preferred_username", "tid"] { good[name] = nil }
        case .tidMismatch: good["tid"] = .string(Tenant.unknownID)
        case .otherTenant: move(&good, to: Tenant.unknownID, at: base)
        case .personalAccount:
            // Personal accounts are never at the hosts of External ID.
            let base = configuration.profile == .externalID ? EntraHost.loginBase : base
            move(&good, to: Configuration.personalTenant, at: base)
        case .loginHostIssuer: good["iss"] = .string("\(EntraHost.loginBase)/\(tenant.id)/v2.0")
        case .b2cIssuer: good["iss"] = .string("https://\(tenant.subdomain).b2clogin.com/\(tenant.id)/v2.0/")
        case .audienceAPI: good["aud"] = .string("api://\(granted.scope.audience ?? granted.client.id)")
        case .scopeArray: good["scp"] = .array(granted.scope.names.map { .string($0) })
        case .scopeClaim: (good["scope"], good["scp"]) = (good["scp"], nil)
        case .guest: good["idp"] = .string("https://sts.windows.net/\(Tenant.unknownID)/")
        case .longLived: good["exp"] = .integer(now - EntraClaims.datedBack + 28 * Self.hour)
        case .issArray: good["iss"] = .array([good["iss"] ?? .null, "https://login.example.org/"])
        case .issPart: good["iss"] = .string(String((good["iss"]?.string ?? "").prefix(8)))
        case .noIss: good["iss"] = nil
        case .audEmpty: good["aud"] = []
        case .noAud: good["aud"] = nil
        case .expText: good["exp"] = .string("\(now + Self.hour)")
        case .idToken, .unknownKid, .noKid, .unpublishedKey, .retiredKey, .badSignature, .truncated, .algNone,
            .hs256WithPublicKey, .rs512, .typOther, .critHeader, .huge, .notJSON, .algNoneMixedCase, .emptySignature,
            .hs256EmptySecret, .kidPath, .kidSQL, .jwkHeader, .jkuHeader, .x5uHeader, .x5cHeader, .otherKeySameKid,
            .ps256, .es256OwnKey, .es256ZeroSignature, .nested, .encrypted, .manyDots, .otherClaims, .duplicateClaim,
            .duplicateAlg:
            break
        }
        return good
    }

    /// The claims of the first daemon's own token.
    private var application: JSONObject {
        let daemon = configuration.applications.clients.first { $0.secret != nil } ?? granted.client
        return EntraClaims(
            application: daemon, configuration, issuer: configuration.entraIssuer(at: base), granted.now
        ).application(granted.scope.audience ?? granted.client.id)
    }

    /// The claims of the same person in another tenant.
    private func move(_ claims: inout JSONObject, to other: String, at base: String) {
        claims["iss"] = .string(configuration.entraIssuer(at: base, tenant: other))
        claims["tid"] = .string(other)
    }

    func header(_ algorithm: String) -> JSONObject {
        var header = signer.header
        header["alg"] = .string(algorithm)
        return header
    }

    private var spoiledHeader: JSONObject {
        var header = signer.header
        if bad == .unknownKid { header["kid"] = "an-unknown-key" }
        if bad == .noKid { header["kid"] = nil }
        if bad == .typOther { header["typ"] = "secevent+jwt" }
        if bad == .critHeader { (header["crit"], header["mock"]) = (["mock"], true) }
        return header
    }

    private func withOtherBit(_ token: String) -> String {
        guard let dot = token.lastIndex(of: "."),
            var signature = Base64.decodeLenient(token[token.index(after: dot)...])
        else { return token }
        signature[signature.count / 2] ^= 1
        return token[...dot] + Base64URL.encode(signature)
    }

    /// A token with an HMAC: a checker that takes the public key for a secret accepts it (RFC 8725 section 2.1).
    func authenticated(_ header: JSONObject, _ payload: [UInt8], secret: [UInt8]) -> String {
        let input = TokenSigner.input(header: header, payload: payload)
        return input + "." + Base64URL.encode(HMACSHA256.authenticate(key: secret, message: Array(input.utf8)))
    }

    private func padded(_ good: JSONObject) -> JSONObject {
        var claims = good
        claims["extension_Padding"] = ""
        let signatureLength = (signer.key.privateKey.modulus.count * 4 + 2) / 3
        let input = TokenSigner.input(header: signer.header, payload: JSONValue.object(claims).serialized())
        let room = max(0, Self.hugeLength - input.utf8.count - 1 - signatureLength)
        claims["extension_Padding"] = .string(String(repeating: "x", count: room * 3 / 4))
        return claims
    }
}
