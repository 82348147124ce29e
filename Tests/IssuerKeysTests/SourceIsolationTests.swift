import Curl
import JSON
import Support
import Testing
import Tokens

@testable import IssuerKeys

@Suite("What happens to one source does not affect the others")
struct SourceIsolationTests {
    private let external = TestProvider.external()

    @Test("P-18 While one source hangs, the tokens of another are verified at once, and its own are not called invalid")
    func hanging() async throws {
        let bench = Bench([.b2c, external])
        bench.provider.hold(external.source.documents[0].metadataURL)
        try bench.verifier.start()
        defer { bench.verifier.stop() }
        await eventually("the other is loaded") { bench.verifier.statuses[0].serves }
        await eventually("this one hangs") { bench.provider.asked.contains(external.source.documents[0].metadataURL) }
        for number in 0..<50 {
            let token = TestProvider.b2c.token { $0["sub"] = .string("\(number)") }
            #expect(await bench.refusal(token) == nil)
        }
        #expect(await bench.refusal(external.token())?.code == "keys_unavailable")
        // A wait for the hanging source would end with "try again".
        var stranger = TestProvider.b2c
        stranger.keyIdentifier = "unknown"
        #expect(await bench.refusal(stranger.token()) == .unknownKey)
        #expect(bench.verifier.statuses[1].keys.state == .empty)
        bench.provider.hold(nil)
        await eventually("this one is loaded, too") { bench.verifier.statuses[1].serves }
        #expect(await bench.refusal(external.token()) == nil)
    }

    @Test func `P-18 A source that serves rubbish keeps its keys, and says so alone`() async {
        let bench = Bench.loaded([.b2c, external])
        for document in external.source.documents {
            bench.provider.set(document.metadataURL, ["issuer": 1])
            bench.provider.set(document.metadataURL + "/keys", ["keys": "none"])
        }
        bench.time.advance(seconds: 3600)
        bench.refresh(0)
        bench.refresh(1)
        #expect(bench.verifier.statuses.map(\.keys.isDegraded) == [false, true])
        #expect(await bench.refusal(external.token { $0["exp"] = .integer(TestClaims.now + 9000) }) == nil)
    }

    @Test(arguments: [0, 1])
    func `V-97 A key of any source that becomes distrusted is used no more, and those of the others are`(
        distrusted: Int
    ) async {
        var second = external
        second.keyIdentifier = "second"
        let providers = [TestProvider.b2c, second]
        let bench = Bench.loaded(providers)
        for provider in providers { #expect(await bench.refusal(provider.token()) == nil) }
        bench.verifier.distrust([providers[distrusted].keyIdentifier])
        for (index, provider) in providers.enumerated() {
            let isDistrusted = index == distrusted
            #expect(bench.verifier.cachedPrincipal(of: ArraySlice(provider.token().utf8)) == nil || !isDistrusted)
            #expect(bench.verifier.statuses[index].keys.keyIdentifiers.isEmpty == isDistrusted, "\(index)")
        }
    }

    @Test func `P-18 Each source becomes too old by its own clock`() async {
        let bench = Bench.loaded([.b2c, external])
        bench.provider.set(external.source.documents[0].metadataURL, .failure(.status(500)))
        bench.time.advance(seconds: 43_200)
        bench.refresh(0)
        bench.refresh(1)
        bench.time.advance(seconds: 43_200)
        #expect(bench.verifier.statuses.map(\.keys.state) == [.stale, .expired])
        let fresh = { (claims: inout JSONObject) in
            claims["iat"] = .integer(TestClaims.now + 86_400)
            claims["exp"] = .integer(TestClaims.now + 90_000)
        }
        #expect(await bench.refusal(TestProvider.b2c.token(fresh)) == nil)
        // Too old is not unknown: the token may be good.
        #expect(await bench.refusal(external.token(fresh))?.code == "keys_unavailable")
    }

    @Test func `P-19 An unknown key is searched at the source of the token only, and its limit is its own`() async {
        let bench = Bench.loaded([.b2c, external])
        for cache in bench.verifier.caches { cache.allowWaits() }
        var stranger = external
        stranger.keyIdentifier = "unknown"
        for round in 0..<3 {
            let token = stranger.token { $0["sub"] = .string("\(round)") }
            #expect(await bench.refusalDuringRefresh(token, of: 1) == .unknownKey)
            bench.refresh(0)
        }
        let keysURL = external.source.documents[0].metadataURL + "/keys"
        #expect(bench.provider.asked == [keysURL, keysURL])
        #expect(bench.verifier.statuses.map(\.keys.counters.unknownKeys) == [0, 3])
        #expect(bench.events.all.contains(.unknownKeysLimited(source: "ext")))
        // The other still has its permits.
        stranger = .b2c
        stranger.keyIdentifier = "unknown"
        bench.provider.forget()
        #expect(await bench.refusalDuringRefresh(stranger.token()) == .unknownKey)
        #expect(bench.provider.asked == [TestProvider.b2c.source.documents[0].metadataURL + "/keys"])
    }

    @Test func `P-20 A reload of one source ends its cached tokens and no others`() async {
        let bench = Bench.loaded([.b2c, external])
        let tokens = [TestProvider.b2c.token(), external.token()]
        for token in tokens { #expect(await bench.refusal(token) == nil) }
        external.publish(
            [published(external.key, kid: "key-2"), published(SigningKey.shared, kid: "key-9")], on: bench.provider)
        bench.time.advance(seconds: 590)
        #expect(bench.verifier.refreshNow())
        bench.refresh(1)
        #expect(tokens.map { bench.verifier.cachedPrincipal(of: ArraySlice($0.utf8)) != nil } == [true, false])
        #expect(await bench.refusal(tokens[1]) == nil)
        bench.refresh(0)
        #expect(tokens.map { bench.verifier.cachedPrincipal(of: ArraySlice($0.utf8)) != nil } == [true, true])
    }

    @Test("P-21 A key that another source has already is not called unknown before the token's source was asked")
    func sharedRotation() async {
        var external = external
        (external.key, external.keyIdentifier) = (TestProvider.b2c.key, TestProvider.b2c.keyIdentifier)
        let bench = Bench.loaded([.b2c, external])
        var rotated = external
        (rotated.key, rotated.keyIdentifier) = (SigningKey.other, "key-9")
        bench.time.advance(seconds: 1)
        var neighbour = TestProvider.b2c
        (neighbour.key, neighbour.keyIdentifier) = (rotated.key, rotated.keyIdentifier)
        neighbour.publish(on: bench.provider)
        rotated.publish(on: bench.provider)
        #expect(bench.verifier.refreshNow())
        bench.refresh(0)
        #expect(await bench.refusal(neighbour.token()) == nil)
        #expect(await bench.refusal(rotated.token())?.code == "keys_unavailable")
        bench.refresh(1)
        #expect(await bench.refusal(rotated.token()) == nil)
        // Now it is certain that this source does not have the key.
        external.publish(on: bench.provider)
        bench.time.advance(seconds: 6)
        #expect(bench.verifier.refreshNow())
        bench.refresh(1)
        #expect(await bench.refusal(rotated.token { $0["sub"] = "again" }) == .wrongIssuer)
    }

    @Test func `P-18 One file keeps the keys of all sources over a restart, each with its age`() async throws {
        let folder = try TemporaryFolder()
        let path = "\(folder.path)/keys"
        let first = Bench.loaded([.b2c, external, .keycloak]) { $0.keyCacheFile = path }
        first.time.advance(seconds: 50_000)
        first.refresh(1)
        first.verifier.stop()
        let second = Bench([.b2c, external, .keycloak]) { $0.keyCacheFile = path }
        second.provider.fail(.timedOut(reason: "test"))
        second.time.advance(seconds: 60_000)
        second.verifier.loadOnce()
        #expect(second.verifier.statuses.map(\.keys.ageSeconds) == [60_000, 10_000, 60_000])
        // A source that writes keeps what another has not loaded again.
        TestProvider.keycloak.publish(on: second.provider)
        second.time.advance(seconds: 60)
        second.refresh(2)
        let third = Bench([.b2c, external, .keycloak]) { $0.keyCacheFile = path }
        third.provider.fail(.timedOut(reason: "test"))
        third.time.advance(seconds: 60_100)
        third.verifier.loadOnce()
        #expect(third.verifier.statuses.map(\.keys.ageSeconds) == [60_100, 10_100, 40])
        let fresh = { (claims: inout JSONObject) in
            claims["iat"] = .integer(TestClaims.now + 60_100)
            claims["exp"] = .integer(TestClaims.now + 61_000)
        }
        let providers: [TestProvider] = [.b2c, external, .keycloak]
        for provider in providers { #expect(await third.refusal(provider.token(fresh)) == nil) }
    }

    @Test func `P-7 P-8 A key of another tenant or cloud is reported once and not used`() async {
        let external = external
        var provider = external
        provider.metadata["cloud_instance_name"] = "microsoftonline.com"
        let bench = Bench([.b2c, provider])
        func key(_ kid: String, _ name: String, _ value: String) -> JSONValue {
            .object((published(external.key, kid: kid).object ?? [:]).with(name, .string(value)))
        }
        let other = "https://\(TestProvider.otherTenant).ciamlogin.com/\(TestProvider.otherTenant)/v2.0"
        provider.publish(
            [
                key("key-2", "issuer", "https://{tenantid}.ciamlogin.com/{tenantid}/v2.0"),
                key("key-7", "issuer", other), key("key-8", "cloud_instance_name", "microsoftonline.us"),
            ], on: bench.provider)
        for _ in 0..<2 {
            bench.verifier.loadOnce()
            bench.time.advance(seconds: 3600)
        }
        #expect(bench.verifier.statuses[1].keys.keyIdentifiers == ["key-2"])
        let skipped = bench.events.all.compactMap { event -> String? in
            if case .keySkipped(_, let key) = event { key.keyIdentifier } else { nil }
        }
        #expect(skipped == ["key-7", "key-8"])
    }
}
