import Basics
import JSON
import OpenSSL

/// Makes bad tokens of External ID and Entra: good ones with exactly one defect.
struct EntraBadTokenSigner: Sendable {
    let claims: EntraClaims
    let signer: TokenSigner
    let personalKeys: KeyRing
    /// Scheme and host of the request.
    let base: String

    private static let longLife: Int64 = 28 * 3600

    private var tenant: Tenant { claims.configuration.tenant }
    private var audience: String { claims.granted.scope.audience ?? claims.granted.client.id }

    /// The token; the changes are made to its claims last.
    func sign(_ bad: EntraBadToken, _ changes: ClaimChanges) async throws(RSAError) -> String {
        var spoiled = spoiled(bad)
        changes.apply(to: &spoiled, now: claims.granted.now, lifetime: claims.lifetime)
        switch bad {
        case .v1:
            return try signer.sign(header: signer.headerOfVersionOne, payload: JSONValue.object(spoiled).serialized())
        case .graph: return try signer.signGraphToken(spoiled)
        case .personalAccount: return try signer.with(await personalKeys.signing()).sign(spoiled)
        case .appOnly, .appOnlyWithType, .noOID, .noTID, .noProfile, .tidMismatch, .otherTenant, .loginHostIssuer,
            .b2cIssuer, .audienceAPI, .scopeArray, .scopeClaim, .guest, .longLived:
            return try signer.sign(spoiled)
        }
    }

    private func spoiled(_ bad: EntraBadToken) -> JSONObject {
        var good = claims.accessToken(audience: audience)
        switch bad {
        case .v1: return claims.versionOne
        case .graph: return claims.graphToken
        case .appOnly, .appOnlyWithType: return application(bad)
        case .noOID: good["oid"] = nil
        case .noTID: good["tid"] = nil
        case .noProfile: for name in ["name", "oid", "preferred_username", "tid"] { good[name] = nil }
        case .tidMismatch: good["tid"] = .string(Tenant.unknownID)
        case .otherTenant: move(&good, to: Tenant.unknownID)
        case .personalAccount: move(&good, to: Configuration.personalTenant)
        case .loginHostIssuer: good["iss"] = .string("\(EntraHost.loginBase)/\(tenant.id)/v2.0")
        case .b2cIssuer: good["iss"] = .string("https://\(tenant.subdomain).b2clogin.com/\(tenant.id)/v2.0/")
        case .audienceAPI: good["aud"] = .string("api://\(audience)")
        case .scopeArray: good["scp"] = .array(claims.granted.scope.names.map { .string($0) })
        case .scopeClaim: (good["scope"], good["scp"]) = (good["scp"], nil)
        case .guest: good["idp"] = .string("https://sts.windows.net/\(Tenant.unknownID)/")
        case .longLived: good["exp"] = .integer(claims.granted.now - EntraClaims.datedBack + Self.longLife)
        }
        return good
    }

    private func application(_ bad: EntraBadToken) -> JSONObject {
        let granted = claims.granted
        let clients = claims.configuration.applications.clients
        let daemon = clients.first { $0.secret != nil } ?? granted.client
        var spoiled = EntraClaims(
            application: daemon, claims.configuration, issuer: claims.issuer, granted.now
        ).application(audience)
        if bad == .appOnlyWithType { spoiled["idtyp"] = "app" }
        return spoiled
    }

    /// The claims of the same person in another tenant; personal accounts are never at the hosts of External ID.
    private func move(_ claims: inout JSONObject, to other: String) {
        let configuration = self.claims.configuration
        let isPersonal = configuration.profile == .externalID && other == Configuration.personalTenant
        claims["iss"] = .string(configuration.entraIssuer(at: isPersonal ? EntraHost.loginBase : base, tenant: other))
        claims["tid"] = .string(other)
    }
}
