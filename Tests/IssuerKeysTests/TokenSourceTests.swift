import Curl
import JSON
import Support
import Testing
import Tokens

@testable import IssuerKeys

@Suite("Tokens, keys, audiences and owners belong to their source")
struct TokenSourceTests {
    private let providers = [TestProvider.b2c, .external(), .keycloak]

    @Test("P-10 P-11 Of every issuer, key and audience only those of one source go together", arguments: [false, true])
    func pairs(isOneIdentifier: Bool) async {
        var providers = providers
        if isOneIdentifier {
            for index in providers.indices { providers[index].keyIdentifier = "key" }
        }
        let bench = Bench.loaded(providers)
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

    @Test func `P-10 One key that two sources publish signs for each, by the rules of each`() async throws {
        var external = TestProvider.external()
        (external.key, external.keyIdentifier) = (TestProvider.b2c.key, TestProvider.b2c.keyIdentifier)
        let bench = Bench.loaded([.b2c, external])
        #expect(try await bench.owner(TestProvider.b2c.token()) == TestClaims.owner)
        #expect(try await bench.owner(external.token()) == "ext:\(TestClaims.owner)")
        #expect(await bench.refusal(external.token(audience: TestClaims.audience)) == .wrongAudience)
        // Without policies, a source takes no token of B2C.
        #expect(await bench.refusal(external.token { $0["tfp"] = "B2C_1_sign_in" }) == .wrongPolicy)
    }

    @Test func `P-12 Skew, lifetime, scopes, kind and owner claim are those of the token's source`() async throws {
        var strict = TestProvider.keycloak
        strict.source.rules.clockSkew = 0
        strict.source.rules.kind = .access
        strict.source.rules.owner.claim = .other("sub")
        strict.source.rules.scopes.required = RequiredScopes(read: "admin")
        var lenient = TestProvider.external()
        lenient.source.rules.clockSkew = 300
        lenient.source.rules.longestLifetime = 28 * 3600
        let bench = Bench.loaded([strict, lenient])
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
            try await bench.verifier.principal(of: strict.token { $0["sub"] = "alice" }),
            try await bench.verifier.principal(of: lenient.token { $0["sub"] = "alice" }),
        ]
        #expect(principals.map(\.owner) == ["work:alice", "ext:\(TestClaims.owner)"])
        #expect(principals.map(\.missingScopes.read) == ["admin", nil])
        #expect(principals.map(\.source) == ["work", "ext"])
    }

    @Test
    func `P-13 An issuer that is not configured is refused without a fetch, once all sources were loaded`() async {
        let bench = Bench(providers)
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
        // No source looks for a key that no provider publishes.
        var stranger = TestProvider.keycloak
        stranger.keyIdentifier = "none"
        let unknown = stranger.token { $0["iss"] = "https://evil.example" }
        #expect(await bench.refusal(unknown) == .wrongIssuer)
        #expect(bench.verifier.statuses.allSatisfy { $0.keys.counters.unknownKeys == 0 })
        #expect(bench.provider.asked.isEmpty)
    }

    @Test func `P-13 A policy that was not loaded keeps only its own tokens waiting`() async {
        var both = TestProvider.b2c
        both.source.documents.append(policy("B2C_1_reset"))
        let bench = Bench([both, .keycloak])
        bench.provider.set(both.source.documents[1].metadataURL, .failure(.status(404)))
        for source in 0..<2 { bench.refresh(source) }
        let token = { (policy: JSONValue) in
            both.token { claims in (claims["iss"], claims["tfp"]) = ("https://contoso.b2clogin.com/tfp/x/", policy) }
        }
        #expect(await bench.refusal(token("b2c_1_reset"))?.outcome == .unavailable(retryAfter: 1))
        #expect(await bench.refusal(token("b2c_1_sign_in")) == .wrongIssuer)
    }

    @Test func `P-13 A source whose issuer is in the settings keeps no other source's tokens waiting`() async {
        var pinned = TestProvider.keycloak
        pinned.source.documents[0].rules.pinnedIssuer = pinned.issuer
        let bench = Bench([.b2c, pinned])
        bench.refresh(0)
        #expect(await bench.refusal(pinned.token())?.code == "keys_unavailable")
        #expect(await bench.refusal(pinned.token { $0["iss"] = "https://evil.example" }) == .wrongIssuer)
    }

    /// External ID, which shares the owners of the source without name; the settings name its tenant.
    private func sharing(_ tenant: String = TestProvider.tenant) -> TestProvider {
        var external = TestProvider.external(tenant)
        external.source.documents = [
            MetadataDocument(authority: "https://contoso.ciamlogin.com/\(tenant)", policy: nil)
        ]
        external.source.owners = .shared(with: nil)
        return external
    }

    @Test(
        "P-15 P-18 A source that shares owners does not wait for the documents of the other", arguments: [false, true])
    func sharingAlone(isFirst: Bool) async throws {
        let external = sharing()
        let bench = Bench(isFirst ? [external, .b2c] : [.b2c, external])
        for document in TestProvider.b2c.source.documents {
            bench.provider.set(document.metadataURL, .failure(.timedOut(reason: "test")))
        }
        bench.verifier.loadOnce()
        #expect(try await bench.owner(external.token()) == TestClaims.owner)
        #expect(await bench.refusal(TestProvider.b2c.token())?.code == "keys_unavailable")
        TestProvider.b2c.publish(on: bench.provider)
        bench.time.advance(seconds: 5)
        bench.verifier.loadOnce()
        #expect(try await bench.owner(TestProvider.b2c.token()) == TestClaims.owner)
    }

    @Test
    func `P-15 P-18 After a restart without the providers, sources share owners in any order (V-88)`() async throws {
        let folder = try TemporaryFolder()
        let providers = [sharing(), .b2c]
        for isRestart in [false, true] {
            let bench = Bench(providers) { $0.keyCacheFile = "\(folder.path)/keys" }
            if isRestart { bench.provider.fail(.timedOut(reason: "test")) }
            bench.verifier.loadOnce()
            for provider in providers { #expect(try await bench.owner(provider.token()) == TestClaims.owner) }
        }
    }

    @Test
    func `P-15 A document of another tenant than the settings name is not loaded, whichever source it is of`() async {
        // The settings name the tenant of the second source only, and the first has another.
        let stranger = sharing(TestProvider.otherTenant)
        let unlike = Bench.loaded([.b2c, stranger])
        #expect(unlike.verifier.statuses.map(\.serves) == [false, true])
        #expect(unlike.verifier.statuses[0].keys.lastFailure?.contains("TASKS_SOURCE_EXT_OWNERS") == true)
        #expect(await unlike.refusal(TestProvider.b2c.token())?.code == "keys_unavailable")
        // They name it for none but the third, which is right.
        var named = TestProvider.external(TestProvider.otherTenant)
        named.source.name = "named"
        named.source.owners = .shared(with: nil)
        let three = Bench.loaded([.b2c, sharing(), named])
        #expect(three.verifier.statuses.map(\.serves) == [true, true, false])
        #expect(three.verifier.statuses[2].keys.lastFailure?.contains("TASKS_SOURCE_EXT_OWNERS") == true)
        // The tenant of the first changes while both serve.
        let bench = Bench.loaded([.b2c, sharing()])
        var moved = TestProvider.b2c
        moved.issuer = "https://contoso.b2clogin.com/\(TestProvider.otherTenant)/v2.0/"
        (moved.key, moved.keyIdentifier) = (SigningKey.other, "key-9")
        moved.publish(on: bench.provider)
        bench.time.advance(seconds: 3600)
        bench.verifier.loadOnce()
        #expect(bench.verifier.statuses.map(\.keys.isDegraded) == [true, false])
        #expect(await bench.refusal(moved.token()) == .wrongIssuer)
        // Without any tenant in the settings, which the start refuses, no owners are shared.
        var nameless = TestProvider.external()
        nameless.source.owners = .shared(with: nil)
        #expect(Bench.loaded([.b2c, nameless]).verifier.statuses.map(\.serves) == [false, false])
    }

    @Test func `P-2 A document that names the issuer of another source is not trusted`() async {
        var neighbour = TestProvider.keycloak
        neighbour.source.name = "copy"
        neighbour.source.documents[0].rules.metadataURL =
            "https://id.example.com/realms/a/b/.well-known/openid-configuration"
        neighbour.key = SigningKey.other
        let bench = Bench.loaded([.keycloak, neighbour])
        #expect(bench.verifier.statuses.map(\.serves) == [true, false])
        #expect(bench.verifier.statuses[1].keys.lastFailure?.contains("those of work") == true)
        #expect(await bench.refusal(TestProvider.keycloak.token()) == nil)
        #expect(await bench.refusal(neighbour.token()) == .badSignature)
    }

    @Test
    func `P-31 After its end a source takes no token, also none from the cache, and the others take theirs`() async {
        var closing = TestProvider.external()
        closing.source.end = TestClaims.now + 10
        let bench = Bench.loaded([.b2c, closing])
        #expect(await bench.refusal(closing.token()) == nil)
        #expect(await bench.refusal(TestProvider.b2c.token()) == nil)
        bench.time.advance(seconds: 10)
        #expect(bench.verifier.cachedPrincipal(of: ArraySlice(closing.token().utf8)) == nil)
        #expect(await bench.refusal(closing.token()) == .sourceClosed)
        #expect(await bench.refusal(TestProvider.b2c.token()) == nil)
        #expect(bench.verifier.statuses.map(\.isClosed) == [false, true])
        #expect(bench.verifier.explain(closing.token()).refusal == .sourceClosed)
        // A closed source that was never loaded keeps no token of an unknown issuer waiting.
        let unloaded = Bench([.b2c, closing])
        unloaded.refresh(0)
        let invented = TestProvider.b2c.token { $0["iss"] = "https://evil.example" }
        #expect(await unloaded.refusal(invented)?.outcome == .unavailable(retryAfter: 1))
        unloaded.time.advance(seconds: 10)
        #expect(await unloaded.refusal(invented) == .wrongIssuer)
        let alone = Bench.loaded([closing])
        alone.time.advance(seconds: 10)
        #expect(await alone.refusal(closing.token()) == .sourceClosed)
    }

    @Test func `P-33 An explanation is by the rules of the token's source, and without one nothing is compared`() throws
    {
        let bench = Bench.loaded(providers)
        for provider in providers {
            #expect(bench.verifier.explain(provider.token()).refusal == nil)
            #expect(bench.verifier.chosenSource(of: provider.token())?.name == provider.source.name)
        }
        let foreign = bench.verifier.explain(TestProvider.external().token(audience: "work-app"))
        #expect(foreign.refusal == .wrongAudience)
        let invented = TestProvider.keycloak.token { $0["iss"] = "https://evil.example" }
        let explanation = bench.verifier.explain(invented)
        #expect(explanation.refusal == .wrongIssuer)
        #expect(explanation.claims.first { $0.name == "iss" }?.value == #""https://evil.example""#)
        #expect(explanation.claims.allSatisfy { $0.accepted.isEmpty })
        #expect(bench.verifier.chosenSource(of: invented) == nil)
        #expect(bench.verifier.statuses.map(\.issuers) == providers.map { [$0.issuer] })
        #expect(bench.provider.asked.isEmpty)
    }
}
