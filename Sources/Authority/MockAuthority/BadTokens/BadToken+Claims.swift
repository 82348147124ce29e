import JSON

// The tokens of every service whose claims are wrong.
extension BadToken {
    private static let other = JSONValue.string(Tenant.unknownID)
    private static let hour: Int64 = 3600

    static let ofClaims = [
        BadToken("expired", .expiry, "exp is an hour ago", is: .expired) {
            ClaimChanges(expiry: -hour).apply(to: &$0, now: $1.now, lifetime: hour)
        },
        BadToken("not-yet-valid", .notBefore, "nbf is in an hour") {
            ($0["nbf"], $0["exp"]) = (.integer($1.now + hour), .integer($1.now + 2 * hour))
        },
        BadToken("no-exp", .expiry, "without exp", claims: ["exp": nil]),
        BadToken("wrong-aud", .audience, "aud is another application", claims: ["aud": other]),
        BadToken("aud-array", nil, "aud is an array of the right application and another one") { claims, _ in
            claims["aud"] = .array([claims["aud"] ?? .null, other])
        },
        BadToken("wrong-iss", .issuer, "iss is another host") {
            $0["iss"] = .string("https://login.example.org/\($1.tenant.id)/v2.0/")
        },
        BadToken("iss-without-slash", .issuer, "iss lacks the slash at its end", of: [.b2c]) {
            $0["iss"] = .string(String($1.configuration.issuer(of: $1.granted.policy).dropLast()))
        },
        BadToken("wrong-tenant", .issuer, "iss names another tenant", of: [.b2c]) {
            $0["iss"] = .string("\($1.configuration.issuerBase)/\(Tenant.unknownID)/v2.0/")
        },
        BadToken(
            "wrong-policy", nil, "tfp is a policy that is not configured", of: [.b2c],
            claims: ["tfp": "b2c_1_not_configured"]),
        BadToken("acr-only", nil, "the policy is in acr instead of tfp, as in custom policies", of: [.b2c], is: .good) {
            ($0["tfp"], $0["acr"]) = (nil, .string($1.granted.policy.name.lowercased()))
        },
        BadToken("no-policy", nil, "without tfp and acr", of: [.b2c], claims: ["tfp": nil, "acr": nil]),
        BadToken("wrong-scp", .scope, "scp is an unknown scope", is: .good, withScopes: .scope) {
            $0[$1.scopeClaim] = "tasks.other"
        },
        noScope(of: [.b2c], is: .good),
        // A source of Microsoft takes a token without scopes for an application's (P-27).
        noScope(of: [.externalID, .entra, .strict], is: .invalid),
        idToken(of: [.b2c], is: .good, withScopes: .scope),
        // A source of Microsoft knows an ID token (P-28).
        idToken(of: [.externalID, .entra, .strict], is: .invalid, withScopes: .invalid),
    ]

    private static func noScope(of services: [TenantProfile], is response: Response) -> BadToken {
        BadToken("no-scp", .scope, "an access token without scp", of: services, is: response, withScopes: .scope) {
            $0[$1.scopeClaim] = nil
        }
    }

    private static func idToken(of services: [TenantProfile], is response: Response, withScopes: Response) -> BadToken {
        BadToken(
            "id-token", .kind, "an ID token, as the old clients send", of: services, is: response,
            withScopes: withScopes, spoil: { $0 = $1.claims.good(for: nil) })
    }
}
