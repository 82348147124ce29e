import JSON
import Support
import Testing
import Tokens

@testable import IssuerKeys

@Suite("Tokens, keys, audiences and owners belong to their source", .timeLimit(.minutes(15)))
struct TokenSourceTests {
    private let providers = [TestProvider.b2c, .external(), .keycloak]

    @Test("P-10 P-11 Of every issuer, key and audience only those of one source go together", arguments: [false, true])
    func pairs(isOneIdentifier: Bool) async {
        var providers = providers
        if isOneIdentifier {
            for index in providers.indices { providers[index].keyIdentifier = "key" }
        }
        let bench = SourceBench.loaded(providers)
        for (i, issuer) in providers.enumerated() {
            for (k, key) in providers.enumerated() {
                for (a, audience) in providers.enumerated() {
                    let expected: TokenRefusal? = k != i ? .wrongIssuer : a != i ? .wrongAudience : nil
                    let token = issuer.token(key: key, audience: audience.audience)
                    #expect(await bench.refusal(token) == expected, "\(i) \(k) \(a)")
                }
            }
        }
        #expect(bench.provider.asked.isEmpty)
    }

    @Test("P-10 One key that two sources publish signs for each, by the rules of each")
    func sharedKey() async throws {
        var external = TestProvider.external()
        (external.key, external.keyIdentifier) = (TestProvider.b2c.key, TestProvider.b2c.keyIdentifier)
        let bench = SourceBench.loaded([.b2c, external])
        #expect(try await bench.owner(TestProvider.b2c.token()) == TestClaims.owner)
        #expect(try await bench.owner(external.token()) == "ext:\(TestClaims.owner)")
        #expect(await bench.refusal(external.token(audience: TestClaims.audience)) == .wrongAudience)
        // Without policies, a source takes no token of B2C.
        #expect(await bench.refusal(external.token { $0["tfp"] = "B2C_1_sign_in" }) == .wrongPolicy)
    }

    @Test("P-12 Skew, lifetime, scopes, kind and owner claim are those of the token's source")
    func rules() async throws {
        var strict = TestProvider.keycloak
        strict.source.rules.clockSkew = 0
        strict.source.rules.kind = .access
        strict.source.rules.owner.claim = .other("sub")
        strict.source.rules.scopes.required = RequiredScopes(read: "admin")
        var lenient = TestProvider.external()
        lenient.source.rules.clockSkew = 300
        lenient.source.rules.longestLifetime = 28 * 3600
        let bench = SourceBench.loaded([strict, lenient])
        let late = { (claims: inout JSONObject) in claims["exp"] = .integer(TestClaims.now - 100) }
        #expect(await bench.refusal(lenient.token(late)) == .notYetValid)
        let over = { (claims: inout JSONObject) in
            claims["exp"] = .integer(TestClaims.now - 100)
            claims["nbf"] = .integer(TestClaims.now - 4000)
            claims["iat"] = .integer(TestClaims.now - 4000)
        }
        #expect(await bench.refusal(lenient.token(over)) == nil)
        #expect(await bench.refusal(strict.token(over)) == .expired)
        let long = { (claims: inout JSONObject) in claims["exp"] = .integer(TestClaims.now + 28 * 3600) }
        #expect(await bench.refusal(lenient.token(long)) == nil)
        #expect(await bench.refusal(strict.token(long)) == .lifetimeTooLong)
        let identity = { (claims: inout JSONObject) in claims["at_hash"] = "h" }
        #expect(await bench.refusal(lenient.token(identity)) == nil)
        #expect(await bench.refusal(strict.token(identity)) == .idToken)
        let principals = [
            try await bench.verifier.verify(strict.token { $0["sub"] = "alice" }),
            try await bench.verifier.verify(lenient.token { $0["sub"] = "alice" }),
        ]
        #expect(principals.map(\.owner) == ["work:alice", "ext:\(TestClaims.owner)"])
        #expect(principals.map(\.missingScopes.read) == ["admin", nil])
        #expect(principals.map(\.source) == ["work", "ext"])
    }

    @Test("P-13 An issuer that is not configured is refused without a fetch, once all sources were loaded")
    func unknownIssuer() async {
        let bench = SourceBench(providers)
        let invented = TestProvider.keycloak.token { $0["iss"] = "https://evil.example" }
        #expect(await bench.refusal(invented)?.outcome == .unavailable(retryAfter: 1))
        bench.refresh(0)
        bench.refresh(2)
        #expect(await bench.refusal(invented)?.code == "keys_unavailable")
        bench.refresh(1)
        bench.provider.forget()
        for issuer: JSONValue? in ["https://evil.example", nil, .null, 1, ["https://id.example.com/realms/a"], ""] {
            #expect(await bench.refusal(TestProvider.keycloak.token { $0["iss"] = issuer }) == .wrongIssuer)
        }
        #expect(
            await bench.refusal(TestProvider.keycloak.token { $0["iss"] = "https://id.example.com/realms/a/" })
                == .wrongIssuer)
        // Nor does a key that no provider publishes make any source look for it.
        var stranger = TestProvider.keycloak
        stranger.keyIdentifier = "none"
        let unknown = stranger.token { $0["iss"] = "https://evil.example" }
        #expect(await bench.refusal(unknown) == .wrongIssuer)
        #expect(bench.verifier.statuses.allSatisfy { $0.keys.counters.unknownKeys == 0 })
        #expect(bench.provider.asked.isEmpty)
    }

    @Test("P-13 A source whose issuer is in the settings keeps no other source's tokens waiting")
    func pinned() async {
        var pinned = TestProvider.keycloak
        pinned.source.documents[0].pinnedIssuer = pinned.issuer
        let bench = SourceBench([.b2c, pinned])
        bench.refresh(0)
        #expect(await bench.refusal(pinned.token())?.code == "keys_unavailable")
        #expect(await bench.refusal(pinned.token { $0["iss"] = "https://evil.example" }) == .wrongIssuer)
    }

    @Test("P-14 The same object id is one owner for each namespace")
    func namespaces() async throws {
        let bench = SourceBench.loaded(providers)
        var owners: [String] = []
        for provider in providers { owners.append(try await bench.owner(provider.token())) }
        #expect(owners == [TestClaims.owner, "ext:\(TestClaims.owner)", "work:\(TestClaims.owner)"])
    }

    @Test("P-15 Two sources of one tenant share owners, and a forged object id of a third does not")
    func shared() async throws {
        var external = TestProvider.external()
        external.source.owners = .shared(with: nil)
        let bench = SourceBench.loaded([.b2c, external, .keycloak])
        #expect(try await bench.owner(TestProvider.b2c.token()) == TestClaims.owner)
        #expect(try await bench.owner(external.token()) == TestClaims.owner)
        #expect(try await bench.owner(TestProvider.keycloak.token()) == "work:\(TestClaims.owner)")
    }

    @Test("P-15 A source that shares owners is not served while the other tenant is unknown, and never if it differs")
    func sharedTenant() async {
        for (tenant, isServed) in [(TestProvider.tenant, true), (TestProvider.otherTenant, false)] {
            var external = TestProvider.external(tenant)
            external.source.owners = .shared(with: nil)
            let bench = SourceBench([.b2c, external])
            bench.refresh(1)
            let unknown = bench.verifier.statuses[1].keys
            #expect(!unknown.state.serves && unknown.lastFailure?.contains("is not known yet") == true)
            bench.refresh(0)
            #expect(bench.verifier.statuses[0].serves)
            // The first has told the second, which need not wait for its next attempt.
            bench.refresh(1)
            let status = bench.verifier.statuses[1]
            #expect(status.serves == isServed)
            #expect((await bench.refusal(external.token()) == nil) == isServed)
            #expect(isServed || status.keys.lastFailure?.contains("of another tenant") == true)
        }
    }

    @Test("P-2 A document that names the issuer of another source is not trusted")
    func sameIssuer() async {
        var neighbour = TestProvider.keycloak
        neighbour.source.name = "copy"
        neighbour.source.documents[0].metadataURL = "https://id.example.com/realms/a/b/.well-known/openid-configuration"
        neighbour.key = SigningKey.other
        let bench = SourceBench.loaded([.keycloak, neighbour])
        #expect(bench.verifier.statuses.map(\.serves) == [true, false])
        #expect(bench.verifier.statuses[1].keys.lastFailure?.contains("those of work") == true)
        #expect(await bench.refusal(TestProvider.keycloak.token()) == nil)
        #expect(await bench.refusal(neighbour.token()) == .badSignature)
    }

    @Test("P-31 After its end a source takes no token, also none from the cache, and the others take theirs")
    func end() async {
        var closing = TestProvider.external()
        closing.source.end = TestClaims.now + 10
        let bench = SourceBench.loaded([.b2c, closing])
        #expect(await bench.refusal(closing.token()) == nil)
        #expect(await bench.refusal(TestProvider.b2c.token()) == nil)
        bench.time.advance(seconds: 10)
        #expect(bench.verifier.cached(ArraySlice(closing.token().utf8)) == nil)
        #expect(await bench.refusal(closing.token()) == .sourceClosed)
        #expect(await bench.refusal(TestProvider.b2c.token()) == nil)
        #expect(bench.verifier.statuses.map(\.isClosed) == [false, true])
        #expect(bench.verifier.explain(closing.token()).refusal == .sourceClosed)
        let alone = SourceBench.loaded([closing])
        alone.time.advance(seconds: 10)
        #expect(await alone.refusal(closing.token()) == .sourceClosed)
    }

    @Test("P-33 An explanation is by the rules of the token's source, and without one it ends there")
    func explanation() throws {
        let bench = SourceBench.loaded(providers)
        for provider in providers {
            #expect(bench.verifier.explain(provider.token()).refusal == nil)
            #expect(bench.verifier.chosenSource(of: provider.token())?.name == provider.source.name)
        }
        let foreign = bench.verifier.explain(TestProvider.external().token(audience: "work-app"))
        #expect(foreign.refusal == .wrongAudience)
        let invented = TestProvider.keycloak.token { $0["iss"] = "https://evil.example" }
        let explanation = bench.verifier.explain(invented)
        #expect(explanation.refusal == .wrongIssuer)
        #expect(explanation.findings.map(\.check) == TokenCheck.allCases)
        let source = try #require(explanation.findings.first { $0.check == .source })
        #expect(source.verdict == .failed(.wrongIssuer) && source.evidence == #""iss":"https://evil.example""#)
        #expect(bench.verifier.chosenSource(of: invented) == nil)
        #expect(bench.verifier.statuses.map(\.issuers) == providers.map { [$0.issuer] })
        #expect(bench.provider.asked.isEmpty)
    }
}
