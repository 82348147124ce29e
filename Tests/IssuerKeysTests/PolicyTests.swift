import Curl
import JSON
import Platform
import Support
import Testing
import Tokens

@testable import IssuerKeys

@Suite("Several policies share one snapshot and keep their keys apart", .timeLimit(.minutes(15)))
struct PolicyTests {
    private let signIn = policy("B2C_1_sign_in")
    private let reset = policy("B2C_1_reset")

    private func token(_ policy: String, _ key: Bool = true) -> String {
        makeToken(
            claims: TestClaims.good.with("tfp", .string(policy)), key: key ? SigningKey.shared : SigningKey.other)
    }

    @Test("A key that both publish signs for both")
    func shared() async {
        let bench = Bench.loaded([signIn, reset])
        #expect(await bench.refusal(token("b2c_1_SIGN_in")) == nil)
        #expect(await bench.refusal(token("B2C_1_reset")) == nil)
        #expect(await bench.refusal(token("B2C_1_other")) == .wrongPolicy)
        #expect(bench.verifier.status.keyIdentifiers == [TestClaims.keyIdentifier])
    }

    @Test("While a policy's keys are not at hand, its tokens cannot be judged, and those of no policy can")
    func notYet() async {
        let bench = Bench([signIn, reset])
        bench.provider.set(reset.metadataURL, .failure(.timedOut(reason: "test")))
        bench.verifier.loadOnce()
        #expect(await bench.refusal(token("B2C_1_sign_in")) == nil)
        #expect(await bench.refusal(token("B2C_1_RESET"))?.outcome == .unavailable(retryAfter: 1))
        #expect(await bench.refusal(token("B2C_1_other")) == .wrongPolicy)
        bench.provider.publish(reset, [published(SigningKey.shared)])
        bench.time.advance(seconds: 2)
        bench.fly()
        #expect(await bench.refusal(token("B2C_1_reset")) == nil)
    }

    @Test("After a rotation, a token of the policy that is fetched last waits for it")
    func rotationInTheAir() async throws {
        let bench = Bench.loaded([signIn, reset])
        for source in [signIn, reset] { bench.provider.publish(source, [published(SigningKey.other, kid: "key-2")]) }
        // The first policy is fetched anew, the second hangs.
        bench.time.advance(seconds: 7200)
        let isLanded = Flag()
        bench.provider.hold(reset.metadataURL)
        let flight = try NamedThread.start("flight") {
            bench.fly()
            isLanded.set()
        }
        while !bench.verifier.status.keyIdentifiers.contains("key-2"), !Task.isCancelled { await Task.yield() }
        let late = makeToken(
            claims: TestClaims.good.with("tfp", "B2C_1_reset").with("exp", .integer(TestClaims.now + 9000)),
            header: TestClaims.header.with("kid", "key-2"), key: SigningKey.other)
        async let refusal = bench.refusal(late)
        while bench.verifier.status.waiters == 0, !Task.isCancelled { await Task.yield() }
        #expect(!isLanded.isSet)
        bench.provider.hold(nil)
        #expect(await refusal == nil)
        flight.join()
    }

    @Test("A key of one policy does not sign for the other")
    func apart() async {
        let bench = Bench([signIn, reset])
        bench.provider.publish(reset, [published(SigningKey.other, kid: "key-2")])
        bench.verifier.loadOnce()
        #expect(await bench.refusal(token("B2C_1_sign_in")) == nil)
        #expect(await bench.refusal(token("B2C_1_reset")) == .wrongPolicy)
    }

    @Test("The same kid with other material under another policy is a second candidate, never a replacement")
    func secondCandidate() async {
        let bench = Bench([signIn, reset])
        bench.provider.publish(reset, [published(SigningKey.other)])
        bench.verifier.loadOnce()
        #expect(await bench.refusal(token("B2C_1_sign_in", true)) == nil)
        #expect(await bench.refusal(token("B2C_1_reset", false)) == nil)
        #expect(await bench.refusal(token("B2C_1_sign_in", false)) == .wrongPolicy)
        #expect(await bench.refusal(token("B2C_1_reset", true)) == .wrongPolicy)
    }

    @Test("A policy that does not exist leaves the other alone")
    func missingPolicy() async {
        let bench = Bench([signIn, reset])
        bench.provider.set(reset.metadataURL, .failure(.status(404)))
        bench.verifier.loadOnce()
        #expect(await bench.refusal(token("B2C_1_sign_in")) == nil)
        let status = bench.verifier.status
        #expect(status.state == .fresh && status.isDegraded)
        #expect(status.lastFailure?.contains("B2C_1_reset: the authority answers 404") == true)
    }

    @Test("Of a host that does not answer, the second policy is not waited for (V-72)")
    func outOfReach() {
        let bench = Bench([signIn, reset])
        bench.provider.fail(.timedOut(reason: "test"))
        bench.verifier.loadOnce()
        #expect(bench.provider.asked == [signIn.metadataURL])
        #expect(bench.verifier.status.counters.failures == 2)
    }

    @Test("A key set that both name is fetched once a flight")
    func sharedKeySet() {
        let bench = Bench([signIn, reset])
        let keysURL = signIn.metadataURL + "/keys"
        bench.provider.set(
            reset.metadataURL, ["issuer": .string(TestClaims.issuer), "jwks_uri": .string(keysURL)])
        bench.verifier.loadOnce()
        #expect(bench.provider.asked == [signIn.metadataURL, keysURL, reset.metadataURL])
    }

    @Test("check says of every source what is wrong and what to do")
    func reports() {
        let bench = Bench([signIn, reset])
        bench.provider.publish(reset, [published(SigningKey.shared)], issuer: "https://evil.example/")
        var configuration = IssuerKeysConfiguration(sources: [signIn, reset], rules: TestClaims.rules)
        let reports = configuration.check(fetcher: bench.provider)
        #expect(reports.map(\.source) == ["B2C_1_sign_in", "B2C_1_reset"])
        #expect(reports[0].problem == nil && reports[0].issuer == TestClaims.issuer)
        #expect(reports[0].keyIdentifiers == [TestClaims.keyIdentifier])
        #expect(reports[1].problem == MetadataError.foreignIssuer.words)

        configuration.sources[1].pinnedIssuer = TestClaims.issuer
        #expect(configuration.check(fetcher: bench.provider)[1].problem == MetadataError.unexpectedIssuer.words)
        bench.provider.set(signIn.metadataURL, .failure(.status(404)))
        #expect(configuration.check(fetcher: bench.provider)[0].problem?.contains("no such tenant or policy") == true)
        bench.provider.set(signIn.metadataURL, .failure(.couldNotResolve(host: "contoso.b2clogin.com")))
        #expect(configuration.check(fetcher: bench.provider)[0].problem?.contains("cannot resolve") == true)
    }

    @Test("Without threads an unknown key is refused at once: nobody would fetch it")
    func withoutThreads() async {
        let provider = FakeProvider()
        provider.publish(signIn, [published(SigningKey.shared)])
        let verifier = BearerVerifier(
            IssuerKeysConfiguration(sources: [signIn], rules: TestClaims.rules),
            time: ManualClock(wallMilliseconds: TestClaims.now * 1000), fetcher: provider)
        verifier.loadOnce()
        await #expect(throws: TokenRefusal.unknownKey) {
            try await verifier.verify(makeToken(header: TestClaims.header.with("kid", "new")))
        }
        await #expect(throws: Never.self) { try await verifier.verify(makeToken()) }
    }

    @Test("A token is explained by the keys at hand")
    func explanation() {
        let bench = Bench.loaded([signIn])
        #expect(bench.verifier.explain(token("B2C_1_sign_in")).refusal == nil)
        #expect(bench.verifier.explain(token("B2C_1_sign_in", false)).refusal == .badSignature)
        let unknown = makeToken(header: TestClaims.header.with("kid", "new"))
        #expect(bench.verifier.explain(unknown).refusal == .unknownKey)
        #expect(bench.provider.asked.isEmpty)
    }
}
