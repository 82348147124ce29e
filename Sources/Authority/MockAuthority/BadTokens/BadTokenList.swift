import Basics
import JSON
import OpenSSL

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
        .without(
            "exp", .expiry, "Require exp: require (PyJWT), requiredClaims (jose), WithExpirationRequired (golang-jwt)."),
        BadToken("wrong-aud", .audience, "aud is another application", claims: ["aud": other]),
        BadToken("aud-array", nil, "aud is an array of the right application and another one") { claims, _ in
            claims["aud"] = .array([claims["aud"] ?? .null, other])
        },
        BadToken("wrong-iss", .issuer, "iss is another host") {
            $0["iss"] = .string("https://login.example.org/\($1.tenant.id)/v2.0/")
        },
        BadToken("iss-without-slash", .issuer, "iss lacks the slash at its end", of: [.b2c]) {
            $0["iss"] = .string(String($1.authority.provider.issuer(of: $1.granted.policy, at: $1.base).dropLast()))
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

// The tokens of every service whose header or signature is wrong.
extension BadToken {
    static let ofSignatures = [
        BadToken(
            "unknown-kid", nil, "kid names no key, the signature is by the active one",
            header: ["kid": "an-unknown-key"]),
        BadToken("no-kid", nil, "without kid", header: ["kid": nil]),
        signed("unpublished-key", .signature, "signed by a key that was never published") {
            try $0.signer.with(await $0.keys.unpublished()).sign($1)
        },
        signed("retired-key", .key, "signed by a key that is no longer published") {
            try $0.signer.with(await $0.keys.retired()).sign($1)
        },
        signed("bad-signature", .signature, "one bit of the signature is wrong") {
            let input = TokenSigner.input(header: $0.signer.header.bytes, payload: $1.bytes)
            var signature = try $0.signer.key.privateKey.sign(Array(input.utf8))
            signature[signature.count / 2] ^= 1
            return input + "." + Base64URL.encode(signature)
        },
        signed("truncated", .signature, "the end of the signature is missing") {
            String(try $0.signer.sign($1).dropLast(6))
        },
        signed("alg-none", .algorithm, "alg is none, the signature empty") { $0.unsigned("none", $1) },
        signed("hs256-with-public-key", .algorithm, "alg is HS256, the secret is the public key in PEM") {
            $0.authenticated($1, secret: $0.signer.key.privateKey.publicPEM)
        },
        signed("rs512", nil, "alg is RS512, correctly signed") {
            try $0.signer.sign(header: $0.header("RS512").bytes, payload: $1.bytes, as: .rs512)
        },
        BadToken("typ-other", nil, "typ is secevent+jwt", header: ["typ": "secevent+jwt"]),
        BadToken(
            "crit-header", .criticalHeader, "crit demands an extension", header: ["crit": ["mock"], "mock": true]),
        BadToken("huge", nil, "longer than 16 KiB", is: .tooLong, claims: ["extension_Padding": .string(padding)]),
        signed("not-json", .validation, "the payload is not JSON, correctly signed") { token, _ in
            try token.signer.sign(header: token.signer.header.bytes, payload: Array("This is not JSON.".utf8))
        },
    ]

    private static let padding = String(repeating: "x", count: 11_800)

    static func signed(_ name: String, _ rule: BadTokenRule?, _ words: String, _ sign: @escaping Sign) -> BadToken {
        BadToken(name, rule, words, sign: sign)
    }
}

// The tokens that show published holes of validators, which docs/internals/token-validation.md lists by their CVE numbers.
extension BadToken {
    static let ofKnownHoles =
        holesOfSignatures + holesOfWholes + [
            BadToken("iss-array", .issuer, "iss is an array of the right issuer and another one") { claims, _ in
                claims["iss"] = .array([claims["iss"] ?? .null, "https://login.example.org/"])
            },
            BadToken("iss-part", .issuer, "iss is a part of the right issuer") { claims, _ in
                claims["iss"] = .string(String((claims["iss"]?.string ?? "").prefix(8)))
            },
            .without("iss", .issuer),
            BadToken("aud-empty", .audience, "aud is an empty array", claims: ["aud": []]),
            .without("aud", .audience),
            BadToken("exp-text", .timeAsText, "exp is a text") { $0["exp"] = .string("\($1.now + 3600)") },
        ]

    private static let holesOfSignatures = [
        signed("alg-none-mixed-case", .algorithm, "alg is nOnE, the signature empty") { $0.unsigned("nOnE", $1) },
        signed("empty-signature", .signature, "alg is right, the signature empty") { $0.unsigned("RS256", $1) },
        signed("hs256-empty-secret", .algorithm, "alg is HS256, the secret is empty") {
            $0.authenticated($1, secret: "")
        },
        signed("kid-path", .algorithm, "alg is HS256, kid is the path of an empty file, the secret is empty") {
            $0.authenticated($1, kid: "../../../../../../../dev/null", secret: "")
        },
        signed("kid-sql", .algorithm, "alg is HS256, kid is SQL that yields the secret") {
            $0.authenticated($1, kid: "' UNION SELECT 'secret", secret: "secret")
        },
        ofStranger("jwk-header", "which is in the header (jwk)") { _, key in ["jwk": key.publicKey] },
        ofStranger("jku-header", "whose address is in the header (jku)") { _, _ in
            ["jku": "https://login.example.org/keys"]
        },
        ofStranger("x5u-header", "whose certificate's address is in the header (x5u)") { _, _ in
            ["x5u": "https://login.example.org/keys"]
        },
        ofStranger("x5c-header", "whose certificate is in the header (x5c)") { now, key in
            let certificate = try CertificateMaker(now: now).tokenSigning(key.privateKey, name: "example.org")
            return ["x5c": [.string(Base64.encode(certificate))]]
        },
        ofStranger("other-key-same-kid", "under the kid of the active one") { _, _ in [:] },
        signed("ps256", nil, "alg is PS256, correctly signed") {
            try $0.signer.sign(header: $0.header("PS256").bytes, payload: $1.bytes, as: .ps256)
        },
        signed("es256-own-key", .signature, "alg is ES256, signed by a key of its own, under the kid of the active one")
        {
            let input = TokenSigner.input(header: $0.header("ES256").bytes, payload: $1.bytes)
            return input + "." + Base64URL.encode(try PrivateKey.generate(.es256).sign(Array(input.utf8)))
        },
        signed("es256-zero-signature", .signature, "alg is ES256, both numbers of the signature are 0") {
            $0.unsigned("ES256", $1) + Base64URL.encode([UInt8](repeating: 0, count: 64))
        },
    ]

    /// A token that a key signs that was never published, under the `kid` of the active one.
    ///
    /// `offer` gives the members of the header in which a careless checker looks for the key; `now` is Unix time.
    private static func ofStranger(
        _ name: String, _ words: String,
        offer: @escaping @Sendable (_ now: Int64, TokenSigningKey) throws -> JSONObject
    ) -> BadToken {
        signed(name, .signature, "signed by a key of its own, \(words)") {
            let key = try await $0.keys.unpublished()
            var header = $0.signer.header
            header.replace(by: try offer($0.now, key))
            return try $0.signer.with(key).sign(header: header.bytes, payload: $1.bytes)
        }
    }

    /// The tokens that are not one header with one set of claims and one signature over both.
    private static let holesOfWholes = [
        signed("nested", nil, "the payload is a good token (cty is JWT), correctly signed") {
            try $0.nested($0.signer.sign($1))
        },
        signed("nested-unsigned", .signature, "the payload is a token without a signature, the outer one is good") {
            try $0.nested($0.unsigned("none", $1))
        },
        signed("encrypted", .validation, "the five parts of an encrypted and compressed token") { _, _ in
            let header: JSONObject = ["alg": "RSA-OAEP", "enc": "A256GCM", "zip": "DEF", "cty": "JWT"]
            let parts = [256, 12, 4096, 16].map { Base64URL.encode(SecureRandom.bytes($0)) }
            return ([Base64URL.encode(header.bytes)] + parts).joined(separator: ".")
        },
        signed("many-dots", .validation, "8000 dots") { _, _ in String(repeating: ".", count: 8000) },
        signed("other-claims", .signature, "the claims of somebody else between header and signature of a good token") {
            var other = $1
            other["oid"] = .string(Tenant.unknownID)
            let parts = try $0.signer.sign($1).split(separator: ".")
            return "\(parts[0]).\(Base64URL.encode(other.bytes)).\(parts[2])"
        },
        signed("duplicate-claim", nil, "oid occurs twice, the second is right, correctly signed") {
            let owner = "{\"\($1["oid"] == nil ? "sub" : "oid")\":\"\(Tenant.unknownID)\","
            return try $0.signer.sign(header: $0.signer.header.bytes, payload: Array(owner.utf8) + $1.bytes.dropFirst())
        },
        signed("duplicate-alg", nil, "alg occurs twice, the second is right, correctly signed") {
            let header = Array("{\"alg\":\"none\",".utf8) + $0.signer.header.bytes.dropFirst()
            return try $0.signer.sign(header: header, payload: $1.bytes)
        },
    ]
}

// The tokens that only External ID and Entra issue.
extension BadToken {
    private static let microsoft = [TenantProfile.externalID, .entra]

    static let ofMicrosoft = [
        BadToken(
            "v1", nil, "version 1 of the same tenant: ver is 1.0, iss is sts.windows.net, aud is the App ID URI",
            of: microsoft,
            spoil: { $0 = $1.entra?.versionOne ?? $0 },
            sign: { try $0.signer.sign(header: $0.signer.headerOfVersionOne().bytes, payload: $1.bytes) }),
        BadToken(
            "graph", .audience, "for Microsoft Graph, with a nonce in the header, which only Graph can verify",
            of: microsoft, spoil: { $0 = $1.entra?.graphToken ?? $0 },
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
            $1.move(&$0, to: Tenant.unknownID)
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
            spoil: { $1.move(&$0, to: EntraHost.personalTenant) },
            sign: { try $0.signer.with(await ($0.authority.personalKeys ?? $0.keys).signing()).sign($1) }),
        BadToken(
            "guest", nil, "of a guest, whose idp is the home tenant; a good token", of: microsoft, is: .good,
            claims: ["idp": .string("https://sts.windows.net/\(Tenant.unknownID)/")]),
        BadToken("cae-28h", nil, "valid for 28 hours, as for continuous access evaluation", of: microsoft) {
            $0["exp"] = .integer($1.now - EntraClaims.datedBack + 28 * 3600)
        },
    ]
}
