import Basics
import JSON

/// A mistake that many people make with tokens, and that the token itself shows (docs/internals/providers.md, P-33).
///
/// A mistake is reported beside the refusal, never in its place: claims prove nothing before a signature is verified.
package enum CommonMistake: Sendable, Equatable {
    case graphToken, versionOneToken, idToken, applicationToken
    /// `exp` was that many seconds ago.
    case recentlyExpired(seconds: Int64)
    /// The token becomes valid in that many seconds.
    case clockBehind(seconds: Int64)
    case audienceForm, loginHost, wrongTenant, wrongPolicy, missingObjectIdentifier, opaqueOrEncrypted
    /// The token is from B2C and only External ID is configured, or the reverse.
    case otherService(isB2C: Bool)

    /// A short name that does not change, for logs.
    package var code: String {
        switch self {
        case .graphToken: "graph_token"
        case .versionOneToken: "v1_token"
        case .idToken: "id_token"
        case .applicationToken: "app_only"
        case .recentlyExpired, .clockBehind: "clock"
        case .audienceForm: "audience_form"
        case .loginHost: "login_host"
        case .wrongTenant: "wrong_tenant"
        case .wrongPolicy: "wrong_policy"
        case .missingObjectIdentifier: "missing_owner"
        case .opaqueOrEncrypted: "opaque_or_encrypted"
        case .otherService: "other_service"
        }
    }

    /// The mistake and its remedy, without any text of the token.
    package var message: String {
        switch self {
        case .graphToken:
            "This token is for Microsoft Graph, and only Graph can verify it. Ask for a scope of this API, such as "
                + "api://<its id>/Tasks.Read, and send the access token that comes with it."
        case .versionOneToken:
            "This is a version 1 access token. In the API's registration set requestedAccessTokenVersion "
                + "(accessTokenAcceptedVersion) to 2, then get a new token."
        case .idToken:
            "This is an ID token: it tells the app who signed in, and is not for APIs. Send the access token of the same "
                + "response. If the clients have none, accept ID tokens with TASKS_TOKEN_KIND=any."
        case .applicationToken:
            "This token is for an application, not for a person, so no one could own tasks. Use a sign-in flow instead "
                + "of client credentials."
        case .recentlyExpired(let seconds):
            "The token expired \(seconds.counted("second")) ago. Get a new one; if it is new, this machine's clock is ahead of the "
                + "provider's: set it (NTP), or raise TASKS_CLOCK_SKEW up to 300s."
        case .clockBehind(let seconds):
            "The clock of this machine is \(seconds.counted("second")) behind the provider's. Set it (NTP), or raise TASKS_CLOCK_SKEW up "
                + "to 300s."
        case .audienceForm:
            "The audience differs from a configured one only in its form. Version 2 tokens carry the bare application id: "
                + "put that into TASKS_CLIENT_ID."
        case .loginHost:
            "The client signed in at login.microsoftonline.com; let the client use https://<subdomain>.ciamlogin.com/."
        case .wrongTenant:
            "The token is from another tenant than the configured one. Sign in at the configured one. If tokens of "
                + "many tenants are accepted, and those of this tenant may use this API, add its id to TASKS_TENANTS."
        case .wrongPolicy:
            "The token was issued by a policy (user flow) that is not in TASKS_POLICIES. Add the policy, or sign in through another."
        case .missingObjectIdentifier:
            "The token has no oid. Let the client ask for the scope profile, too; for B2C, let the user flow return the "
                + "object id."
        case .opaqueOrEncrypted:
            "The provider gave an opaque or encrypted token. Ask for a token for this API, or turn token encryption off."
        case .otherService(isB2C: true):
            "This token is from Azure AD B2C, and only Entra External ID is configured here. Change the client's authority, "
                + "or configure the B2C tenant as a further source."
        case .otherService(isB2C: false):
            "This token is from Entra External ID, and only Azure AD B2C is configured here. Change the client's authority, "
                + "or configure the external tenant as a further source."
        }
    }
}

extension CommonMistake {
    /// Finds the mistake that a token shows, if it shows a common one; `refusal` is the first rule that it breaks.
    ///
    /// The issuers and audiences are those of all sources, as far as they are known. The time is in seconds since
    /// 1970.
    package init?(
        in token: String, refused refusal: TokenRefusal, issuers: [String], audiences: [String], now: Int64
    ) {
        if refusal == .notThreeSegments {
            self = .opaqueOrEncrypted
            return
        }
        guard let compact = try? CompactToken(token), let claims = try? Claims(of: compact) else { return nil }
        let header = try? JOSEHeader.members(of: compact)
        let suspect = SuspectToken(
            header: header, claims: claims, refusal: refusal, issuers: issuers, audiences: audiences)
        guard
            let found = suspect.ofKind ?? suspect.ofTime(now) ?? suspect.ofAudience ?? suspect.ofIssuer
                ?? suspect.ofPerson
        else { return nil }
        self = found
    }
}

/// A refused token and the configuration.
private struct SuspectToken {
    let header: JSONMembers?
    let claims: Claims
    let refusal: TokenRefusal
    let issuers: [String]
    let audiences: [String]

    private var issuer: String { claims.issuer ?? "" }
    private var audience: String? { claims["aud"]?.string }

    private static let graph = [
        "00000003-0000-0000-c000-000000000000", "https://graph.microsoft.com", "https://graph.microsoft.com/",
    ]

    /// The mistake of sending another token than a person's access token for this API.
    var ofKind: CommonMistake? {
        if let audience, Self.graph.contains(where: { $0.isSame(as: audience) }) { return .graphToken }
        // Graph's tokens are signed over another nonce than the one in their header, so only Graph can verify them.
        if refusal == .badSignature, header?.contains("nonce") ?? false { return .graphToken }
        if isVersionOne { return .versionOneToken }
        if refusal == .idToken || refusal == .wrongAudience && looksLikeIDToken { return .idToken }
        if case .applicationToken = refusal { return .applicationToken }
        return claims["idtyp"]?.string == "app" ? .applicationToken : nil
    }

    /// Whether the token has version 1; B2C's tokens have `ver` 1.0 too, but no `appid`.
    private var isVersionOne: Bool {
        guard !issuers.contains(where: { $0.isSame(as: issuer) }) else { return false }
        return issuer.hasPrefix("https://sts.windows.net/")
            || claims["ver"]?.string == "1.0" && claims["appid"] != nil
    }

    private var looksLikeIDToken: Bool {
        !claims.hasScopes
            && (claims["nonce"] != nil || claims["at_hash"] != nil || claims["token_use"]?.string == "id")
    }

    func ofTime(_ now: Int64) -> CommonMistake? {
        if refusal == .notYetValid { return future("nbf", now) }
        if refusal == .issuedInFuture { return future("iat", now) }
        guard refusal == .expired, let seconds = distance(from: "exp", now), (0..<600).contains(seconds) else {
            return nil
        }
        return .recentlyExpired(seconds: seconds)
    }

    private func future(_ name: String, _ now: Int64) -> CommonMistake? {
        guard let seconds = distance(from: name, now), (1..<86_400).contains(-seconds) else { return nil }
        return .clockBehind(seconds: -seconds)
    }

    /// Returns the seconds since a time; negative for a time in the future.
    private func distance(from name: String, _ now: Int64) -> Int64? {
        guard let moment = try? claims.moment(name) else { return nil }
        return now - Int64(moment.rounded(.down))
    }

    /// The mistake of an audience `api://X` where `X` is configured, or the reverse (P-25).
    var ofAudience: CommonMistake? {
        guard refusal == .wrongAudience, let audience else { return nil }
        let other = audience.hasPrefix("api://") ? String(audience.dropFirst("api://".count)) : "api://\(audience)"
        return audiences.contains { $0.isSame(as: other) } ? .audienceForm : nil
    }

    /// The mistake of an issuer of Microsoft's that is not configured.
    var ofIssuer: CommonMistake? {
        if refusal == .wrongTenant { return .wrongTenant }
        guard refusal == .wrongIssuer, let address = WebAddress(issuer), let tenant = IssuerTenant.of(issuer) else {
            return nil
        }
        let isSameTenant = issuers.contains { IssuerTenant.of($0)?.isSame(as: tenant) ?? false }
        if isSameTenant, address.host == "login.microsoftonline.com" { return .loginHost }
        if let other = otherService(address.host) { return other }
        let form = Self.form(address, tenant)
        let isKnownForm = issuers.contains { known in
            guard let known = WebAddress(known), let tenant = IssuerTenant.of(known) else { return false }
            return Self.form(known, tenant) == form
        }
        return isKnownForm ? .wrongTenant : nil
    }

    private func otherService(_ host: String) -> CommonMistake? {
        let hosts = issuers.compactMap { WebAddress($0)?.host }
        let hasB2C = hosts.contains { $0.hasSuffix(".b2clogin.com") }
        let hasExternalID = hosts.contains { $0.hasSuffix(".ciamlogin.com") }
        if host.hasSuffix(".b2clogin.com"), !hasB2C, hasExternalID { return .otherService(isB2C: true) }
        if host.hasSuffix(".ciamlogin.com"), !hasExternalID, hasB2C { return .otherService(isB2C: false) }
        return nil
    }

    /// Returns the labels of an issuer's host and the segments of its path, with an empty text for the tenant.
    private static func form(_ issuer: WebAddress, _ tenant: String) -> [String] {
        let labels = issuer.host.split(separator: ".").map { String($0) }
        return (labels + ["/"] + issuer.path.map(\.lowercasedASCII)).map { $0.isSame(as: tenant) ? "" : $0 }
    }

    /// The mistake of a sign-in with another policy, or without an object id.
    var ofPerson: CommonMistake? {
        if refusal == .wrongPolicy { return .wrongPolicy }
        guard refusal == .missingOwner, IssuerTenant.of(issuer) != nil, claims["oid"] == nil else { return nil }
        return .missingObjectIdentifier
    }
}
