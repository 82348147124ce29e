import JSON
import Support
import Testing
import Tokens

private let tenant = "775527ff-9a37-4307-8b3d-cc311f58d925"
private let guests = "11111111-2222-3333-4444-555555555555"

@Suite("A token source has rules of its own for claims (P-16, P-22 to P-31)")
struct SourceRulesTests {
    private var verification: Verification
    /// What an access token of Entra ID says.
    private let claims = TestClaims.good.with("tfp", nil).with("ver", "2.0").with("tid", .string(tenant))
        .with("iss", .string("https://login.microsoftonline.com/\(tenant)/v2.0"))

    init() throws {
        verification = try Verification()
    }

    /// The verification of one issuer without policies, under rules that differ from B2C's.
    private func verification(
        of issuer: String = "https://login.microsoftonline.com/\(tenant)/v2.0", _ change: (inout ClaimRules) -> Void
    ) -> Verification {
        var verification = verification
        verification.issuers = [TokenIssuer(identifier: issuer, policy: nil)]
        change(&verification.rules)
        return verification
    }

    private func multi(_ listed: [String], isAny: Bool = false) -> Verification {
        verification(of: "https://login.microsoftonline.com/{tenantid}/v2.0") {
            $0.isMicrosoft = true
            $0.tenants = AllowedTenants(listed: listed, isAny: isAny)
            $0.owner.claim = .tenantAndObject
        }
    }

    private func claims(of tenant: String, issuer: String? = nil) -> JSONObject {
        claims.with("tid", .string(tenant))
            .with("iss", .string(issuer ?? "https://login.microsoftonline.com/\(tenant)/v2.0"))
    }

    // MARK: Tenants

    @Test func `P-22 An issuer for many tenants is that of the token's tenant, which must be allowed`() {
        let listed = multi([tenant])
        #expect(listed.refusal(of: makeToken(claims: claims)) == nil)
        #expect(listed.refusal(of: makeToken(claims: claims(of: guests))) == .wrongTenant)
        // The issuer of one tenant, and another tenant in the token.
        let mixed = claims(of: tenant, issuer: "https://login.microsoftonline.com/\(guests)/v2.0")
        #expect(listed.refusal(of: makeToken(claims: mixed)) == .wrongTenant)
        for issuer in [
            "https://login.microsoftonline.com/{tenantid}/v2.0", "https://login.microsoftonline.com/\(tenant)/v2.0/",
            "https://login.microsoftonline.us/\(tenant)/v2.0", "https://sts.windows.net/\(tenant)/",
        ] {
            #expect(listed.refusal(of: makeToken(claims: claims(of: tenant, issuer: issuer))) == .wrongIssuer)
        }
        #expect(listed.refusal(of: makeToken(claims: claims.with("tid", nil))) == .wrongTenant)
        #expect(listed.refusal(of: makeToken(claims: claims.with("tid", "contoso.com"))) == .wrongTenant)
        #expect(listed.refusal(of: makeToken(claims: claims.with("TID", .string(guests)))) == .wrongTenant)
    }

    @Test func `P-22 Any tenant does not mean personal accounts, which are listed by their GUID`() {
        let personal = makeToken(claims: claims(of: IssuerTenant.personalAccounts))
        #expect(multi([], isAny: true).refusal(of: makeToken(claims: claims(of: guests))) == nil)
        #expect(multi([], isAny: true).refusal(of: personal) == .wrongTenant)
        #expect(multi([IssuerTenant.personalAccounts]).refusal(of: personal) == nil)
    }

    @Test func `P-23 A token of a single tenant names that tenant, if it names one`() {
        let single = verification { $0.isMicrosoft = true }
        #expect(single.refusal(of: makeToken(claims: claims)) == nil)
        #expect(single.refusal(of: makeToken(claims: claims.with("tid", nil))) == nil)
        #expect(single.refusal(of: makeToken(claims: claims.with("tid", .string(guests)))) == .wrongTenant)
        // In tokens of another provider, a claim of that name means nothing.
        let other = verification { _ in }
        #expect(other.refusal(of: makeToken(claims: claims.with("tid", .string(guests)))) == nil)
    }

    @Test func `P-29 A version 1 token is of another issuer than version 2 of the same tenant`() {
        let old = claims.with("iss", .string("https://sts.windows.net/\(tenant)/")).with("ver", "1.0")
        #expect(verification { $0.isMicrosoft = true }.refusal(of: makeToken(claims: old)) == .wrongIssuer)
        let named = verification(of: "https://sts.windows.net/\(tenant)/") { $0.isMicrosoft = true }
        #expect(named.refusal(of: makeToken(claims: old)) == nil)
    }

    // MARK: Owners

    @Test func `P-16 The same object id in two tenants is two owners`() throws {
        let both = multi([tenant, guests])
        let owners = try [tenant, guests, tenant.uppercased()].map { tenant in
            let token = claims.with("tid", .string(tenant)).with("oid", .string(TestClaims.owner.uppercased()))
                .with("iss", .string("https://login.microsoftonline.com/\(tenant.lowercased())/v2.0"))
            return try both.verify(makeToken(claims: token)).principal.owner
        }
        #expect(owners == ["\(tenant)+\(TestClaims.owner)", "\(guests)+\(TestClaims.owner)", owners[0]])
        #expect(both.refusal(of: makeToken(claims: claims.with("oid", nil))) == .missingOwner)
        #expect(both.refusal(of: makeToken(claims: claims.with("oid", "x"))) == .malformedOwner)
    }

    @Test func `P-14 The owner in the store has the namespace of the source before the value`() throws {
        let named = verification { $0.owner.prefix = "ext:" }
        #expect(try named.verify(makeToken(claims: claims)).principal.owner == "ext:\(TestClaims.owner)")
        let text = verification { rules in
            rules.owner.prefix = "ext:"
            rules.owner.claim = .other("sub")
        }
        let token = makeToken(claims: claims.with("sub", "A:b"))
        #expect(try text.verify(token).principal.owner == "ext:A:b")
    }

    // MARK: Audiences

    @Test func `P-24 Several audiences are accepted only where the settings allow them, up to 16`() {
        let any = verification { $0.audience.match = .any }
        let one = verification { _ in }
        let ours = JSONValue.string(TestClaims.audience)
        func refusals(_ audience: JSONValue?) -> [TokenRefusal?] {
            [one, any].map { $0.refusal(of: makeToken(claims: claims.with("aud", audience))) }
        }
        #expect(refusals(ours) == [nil, nil])
        #expect(refusals([ours]) == [nil, nil])
        #expect(refusals(["https://contoso.auth0.com/userinfo", ours]) == [.wrongAudience, nil])
        #expect(refusals(.array([ours] + Array(repeating: "x", count: 15))) == [.wrongAudience, nil])
        for wrong: JSONValue? in [
            .array([ours] + Array(repeating: "x", count: 16)), [ours, 1], [[ours]], [], ["x", "y"], nil, .null, 1,
        ] {
            #expect(refusals(wrong) == [.wrongAudience, .wrongAudience])
        }
    }

    @Test func `P-24 Another claim in place of aud must match, and aud too if the token has it`() {
        let cognito = verification { $0.audience.claim = "client_id" }
        let token = claims.with("aud", nil)
        func refusal(_ client: JSONValue?, _ audience: JSONValue? = nil) -> TokenRefusal? {
            cognito.refusal(of: makeToken(claims: token.with("client_id", client).with("aud", audience)))
        }
        #expect(refusal(.string(TestClaims.audience)) == nil)
        #expect(refusal(.string(TestClaims.audience), .string(TestClaims.audience)) == nil)
        #expect(refusal(.string(TestClaims.audience), "other") == .wrongAudience)
        #expect(refusal("other") == .wrongAudience && refusal(nil) == .wrongAudience)
        #expect(refusal(nil, .string(TestClaims.audience)) == .wrongAudience)
        #expect(refusal([.string(TestClaims.audience)]) == .wrongAudience)
    }

    @Test func `P-25 api://A and A are different audiences, and each configured audience is accepted (V-55)`() {
        let address = "api://\(TestClaims.audience)"
        #expect(verification.refusal(with: "aud", .string(address)) == .wrongAudience)
        let other = verification { $0.audience.accepted = [address] }
        #expect(other.refusal(of: makeToken(claims: claims)) == .wrongAudience)
        let both = verification { $0.audience.accepted = [address, TestClaims.audience] }
        #expect(both.refusal(of: makeToken(claims: claims.with("aud", .string(address)))) == nil)
        #expect(both.refusal(of: makeToken(claims: claims)) == nil)
        let none = verification { $0.audience.accepted = [] }
        #expect(none.refusal(of: makeToken(claims: claims)) == .wrongAudience)
    }

    // MARK: Scopes

    @Test(
        "P-26 Scopes are read from scp or scope, a string or an array (V-59)",
        arguments: [
            // An element that is not a string grants nothing, and does no harm.
            (ScopeClaim.automatic, [1, "a", .null, ["b"], ["b": "b"], "b c"], nil, ["a", "b c"]),
            (.automatic, [], nil, []), (.automatic, " a  b ", nil, ["a", "b"]),
            (.automatic, "a b", nil, ["a", "b"]), (.automatic, ["a", "b"], nil, ["a", "b"]),
            (.automatic, nil, "a b", ["a", "b"]), (.automatic, nil, nil, []),
            (.automatic, "a b", "b a", ["a", "b"]), (.automatic, "a", "a b", nil), (.automatic, "", "a", nil),
            (.automatic, nil, ["openid", "b", 1], ["openid", "b"]),
            (.automatic, nil, [], []),
            (.scope, "a", ["b"], ["b"]), (.automatic, "a b", ["b", "a"], ["a", "b"]),
            (.automatic, ["a"], ["a", "b"], nil), (.automatic, 1, nil, nil),
            (.automatic, nil, 1, nil), (.automatic, nil, [:], nil), (.scope, nil, true, nil), (.automatic, "a", 1, nil),
            (.scp, "a", "b", ["a"]), (.scp, nil, "b", []), (.scope, "a", "b", ["b"]), (.scope, nil, .null, nil),
        ] as [(ScopeClaim, JSONValue?, JSONValue?, [String]?)])
    func scopes(claim: ScopeClaim, scp: JSONValue?, scope: JSONValue?, expected: [String]?) throws {
        let source = verification { $0.scopes.claim = claim }
        let token = makeToken(claims: claims.with("scp", scp).with("scope", scope))
        if let expected {
            #expect(try source.verify(token).principal.scopes == expected)
        } else {
            #expect(source.refusal(of: token) == .malformedScope)
        }
    }

    @Test func `P-12 A token lacks the scopes that its source requires, and no others`() throws {
        let source = verification { $0.scopes.required = RequiredScopes(read: "tasks.read", write: "tasks.admin") }
        let principal = try source.verify(makeToken(claims: claims)).principal
        #expect(principal.missingScopes == RequiredScopes(read: nil, write: "tasks.admin"))
        for (scope, other) in [("read", "READ"), ("read", "read.all"), ("\u{e9}", "e\u{301}")] {
            let source = verification { $0.scopes.required = RequiredScopes(read: scope) }
            let token = makeToken(claims: claims.with("scp", .string(other)))
            #expect(try source.verify(token).principal.missingScopes.read == scope, "\(other)")
        }
        let none = verification { _ in }
        #expect(try none.verify(makeToken(claims: claims)).principal.missingScopes == RequiredScopes())
    }

    // MARK: Kinds

    @Test func `P-27 A token for an application is refused, with the scopes that it lacks, where some are required`() {
        let microsoft = verification { $0.isMicrosoft = true }
        let other = verification { _ in }
        let daemon = claims.with("scp", nil).with("roles", ["Tasks.Write.All"]).with("azpacr", "1")
        #expect(microsoft.refusal(of: makeToken(claims: daemon)) == .applicationToken(lacking: nil))
        #expect(microsoft.refusal(of: makeToken(claims: daemon.with("roles", nil))) == .applicationToken(lacking: nil))
        #expect(other.refusal(of: makeToken(claims: daemon)) == nil)
        for source in [microsoft, other, verification] {
            let named = source.issuers[0].policy == nil ? claims : TestClaims.good
            let refusal = source.refusal(of: makeToken(claims: named.with("idtyp", "app")))
            #expect(refusal == .applicationToken(lacking: nil))
            #expect(source.refusal(of: makeToken(claims: named.with("idtyp", "user"))) == nil)
        }
        // An ID token is for a person.
        #expect(microsoft.refusal(of: makeToken(claims: daemon.with("nonce", "n"))) == nil)
        let scoped = verification { rules in
            rules.isMicrosoft = true
            rules.scopes.required = RequiredScopes(read: "r", write: "w")
        }
        let refusal = scoped.refusal(of: makeToken(claims: daemon))
        #expect(refusal?.code == "app_only" && refusal?.outcome == .insufficientScope("r w"))
        #expect(TokenRefusal.applicationToken(lacking: nil).outcome == .invalid)
    }

    @Test("P-27 An empty scp of Microsoft's is no scope, and P-28 an ID token without a nonce is not an application's")
    func tokensWithoutScopes() {
        func refusal(_ token: JSONObject, _ kind: TokenKind) -> TokenRefusal? {
            verification { rules in
                rules.isMicrosoft = true
                rules.kind = kind
            }.refusal(of: makeToken(claims: token))
        }
        let client = claims.with("azp", "c").with("azpacr", "1")
        #expect(refusal(client.with("scp", "a"), .access) == nil)
        for empty: JSONValue in ["", " ", []] {
            #expect(refusal(client.with("scp", empty), .access) == .applicationToken(lacking: nil), "\(empty)")
        }
        let identity = claims.with("scp", nil).with("azp", nil)
        #expect(refusal(identity, .access) == .idToken)
        #expect(refusal(identity, .any) == nil)
        // ID tokens may have roles, too: those of the person.
        #expect(refusal(identity.with("roles", ["a"]), .access) == .idToken)
        for name in ["azp", "azpacr", "appid", "appidacr"] {
            #expect(refusal(identity.with(name, "c"), .any) == .applicationToken(lacking: nil), "\(name)")
        }
    }

    @Test func `P-28 Access tokens and ID tokens are told apart where the settings want one of them`() {
        func refusals(_ change: (inout JSONObject) -> Void) -> [TokenRefusal?] {
            var token = claims.with("scp", nil)
            change(&token)
            return [TokenKind.access, .id, .any].map { kind in
                verification { $0.kind = kind }.refusal(of: makeToken(claims: token))
            }
        }
        for (name, value): (String, JSONValue) in [
            ("nonce", "n"), ("at_hash", "h"), ("c_hash", "h"), ("token_use", "id"), ("typ", "ID"), ("auth_time", 1),
        ] {
            #expect(refusals { $0[name] = value } == [.idToken, nil, nil], "\(name)")
        }
        for (name, value): (String, JSONValue) in [
            ("scp", "a"), ("scope", "openid"), ("token_use", "access"), ("typ", "Bearer"),
        ] {
            #expect(refusals { $0[name] = value } == [nil, .notIDToken, nil], "\(name)")
        }
        // Access tokens may have the time of the sign-in, too: RFC 9068 section 2.2.1.
        for (name, value) in [("azp", "c"), ("client_id", "c"), ("scope", "openid")] {
            let access = refusals { token in
                token["auth_time"] = 1
                token[name] = .string(value)
            }
            #expect(access[0] == nil, "\(name)")
        }
        // Keycloak's access tokens may repeat the nonce.
        let repeated = refusals { token in
            token["nonce"] = "n"
            token["scope"] = "openid"
        }
        #expect(repeated == [nil, .notIDToken, nil])
    }

    // MARK: Times

    @Test func `P-30 A token that lives for 28 hours passes only where the source allows that`() {
        let long = claims.with("exp", .integer(TestClaims.now + 28 * 3600))
        #expect(verification { _ in }.refusal(of: makeToken(claims: long)) == .lifetimeTooLong)
        #expect(TokenRefusal.lifetimeTooLong.message.contains("TASKS_MAX_LIFETIME"))
        #expect(verification { $0.longestLifetime = 28 * 3600 }.refusal(of: makeToken(claims: long)) == nil)
        let longer = claims.with("exp", .integer(TestClaims.now + 28 * 3600 + 61))
        let refusal = verification { $0.longestLifetime = 28 * 3600 }.refusal(of: makeToken(claims: longer))
        #expect(refusal == .lifetimeTooLong)
    }

    @Test func `P-31 A verified token is not usable after the end of its source`() throws {
        let closing = verification { $0.end = TestClaims.now + 10 }
        let token = try closing.verify(makeToken(claims: claims))
        #expect(token.isUsable(at: TestClaims.now + 9) && !token.isUsable(at: TestClaims.now + 10))
    }

    @Test
    func `P-32 Every refusal of a source is one invalid token for the client, with a code of its own in the log`() {
        let refusals: [(TokenRefusal, String)] = [
            (.wrongTenant, "wrong_tenant"), (.idToken, "id_token"), (.notIDToken, "not_id_token"),
            (.sourceClosed, "source_closed"), (.applicationToken(lacking: nil), "app_only"),
        ]
        for (refusal, code) in refusals {
            #expect(refusal.outcome == .invalid && refusal.code == code && refusal.message.hasSuffix("."))
        }
    }
}
