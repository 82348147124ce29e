import JSON

// The tokens that only External ID and Entra issue.
extension BadToken {
    private static let microsoft = [TenantProfile.externalID, .entra]
    private static let other = JSONValue.string(Tenant.unknownID)

    static let ofMicrosoft = [
        BadToken(
            "v1", .issuer, "version 1: ver is 1.0, iss is sts.windows.net, aud is the App ID URI", of: microsoft,
            spoil: { $0 = ($1.claims as? EntraClaims)?.versionOne ?? $0 },
            sign: { try $0.signer.sign(header: $0.signer.headerOfVersionOne(), payload: $1.bytes) }),
        BadToken(
            "graph", .audience, "for Microsoft Graph, with a nonce in the header, which only Graph can verify",
            of: microsoft, spoil: { $0 = ($1.claims as? EntraClaims)?.graphToken ?? $0 },
            sign: { try $0.signer.signGraphToken($1) }),
        // Without scp, a token of Microsoft is an application's (P-27).
        BadToken(
            "app-only", .scope, "of an application without a person: roles, no scp", of: microsoft, withScopes: .scope,
            spoil: { $0 = $1.application }),
        BadToken(
            "app-only-with-idtyp", .scope, "of an application, which says so in idtyp", of: microsoft,
            withScopes: .scope
        ) {
            $0 = $1.application
            $0["idtyp"] = "app"
        },
        BadToken("no-oid", nil, "without oid", of: microsoft, claims: ["oid": nil]),
        BadToken("no-tid", nil, "without tid", of: microsoft, is: .good, claims: ["tid": nil]),
        BadToken(
            "no-profile", nil, "as for a client that did not ask for the scope profile: without oid, tid and name",
            of: microsoft, claims: ["name": nil, "oid": nil, "preferred_username": nil, "tid": nil]),
        BadToken("tid-mismatch", nil, "tid is another tenant than that of iss", of: microsoft, claims: ["tid": other]),
        BadToken("other-tenant", .issuer, "iss and tid are another tenant, signed by the same key", of: microsoft) {
            $1.move(&$0, to: Tenant.unknownID, at: $1.base)
        },
        BadToken(
            "login-host-issuer", .issuer, "iss is at login.microsoftonline.com, as for clients with that authority",
            of: [.externalID], spoil: { $0["iss"] = .string("\(EntraHost.loginBase)/\($1.tenant.id)/v2.0") }),
        BadToken("b2c-issuer", .issuer, "iss is that of Azure AD B2C for the same tenant", of: [.externalID]) {
            $0["iss"] = .string("https://\($1.tenant.subdomain).b2clogin.com/\($1.tenant.id)/v2.0/")
        },
        BadToken("aud-api-uri", nil, "aud is the App ID URI api://... in place of the application id", of: microsoft) {
            $0["aud"] = .string("api://\($1.audience)")
        },
        BadToken("scp-array", nil, "scp is an array, as Okta writes it", of: microsoft, is: .good) {
            $0["scp"] = .array($1.granted.scope.names.map { .string($0) })
        },
        BadToken("scope-claim", nil, "scope in place of scp", of: microsoft, withScopes: .scope) { claims, _ in
            (claims["scope"], claims["scp"]) = (claims["scp"], nil)
        },
        BadToken(
            "personal-account", .issuer, "of a personal Microsoft account: iss and tid are 9188040d-...", of: microsoft,
            spoil: {
                // Personal accounts are never at the hosts of External ID.
                let base = $1.configuration.profile == .externalID ? EntraHost.loginBase : $1.base
                $1.move(&$0, to: Configuration.personalTenant, at: base)
            }, sign: { try $0.signer.with(await ($0.authority.personalKeys ?? $0.authority.keys).signing()).sign($1) }),
        BadToken(
            "guest", nil, "of a guest, whose idp is the home tenant; a good token", of: microsoft, is: .good,
            claims: ["idp": .string("https://sts.windows.net/\(Tenant.unknownID)/")]),
        BadToken("cae-28h", nil, "valid for 28 hours, as for continuous access evaluation", of: microsoft) {
            $0["exp"] = .integer($1.now - EntraClaims.datedBack + 28 * 3600)
        },
    ]
}
