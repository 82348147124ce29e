import Curl
import JSON
import Platform
import Support
import Testing
import Tokens

@testable import IssuerKeys

@Suite("Several policies share one snapshot and keep their keys apart")
struct PolicyTests {
    private let signIn = policy("B2C_1_sign_in")
    private let reset = policy("B2C_1_reset")

    private func token(_ policy: String, _ key: Bool = true) -> String {
        makeToken(
            claims: TestClaims.good.with("tfp", .string(policy)), key: key ? SigningKey.shared : SigningKey.other)
    }

    @Test func `A key that both policies publish signs for both`() async {
        let bench = Bench.loaded([signIn, reset])
        #expect(await bench.refusal(token("b2c_1_SIGN_in")) == nil)
        #expect(await bench.refusal(token("B2C_1_reset")) == nil)
        #expect(await bench.refusal(token("B2C_1_other")) == .wrongPolicy)
        #expect(bench.verifier.status.keyIdentifiers == [TestClaims.keyIdentifier])
    }

    @Test("While the keys of a policy are not loaded, its tokens cannot be verified, and those of other policies can")
    func notYet() async {
        let bench = Bench([signIn, reset])
        bench.provider.set(reset.metadataURL, .failure(.timedOut(reason: "test")))
        bench.verifier.loadOnce()
        #expect(await bench.refusal(token("B2C_1_sign_in")) == nil)
        #expect(await bench.refusal(token("B2C_1_RESET"))?.outcome == .unavailable(retryAfter: 1))
        #expect(await bench.refusal(token("B2C_1_other")) == .wrongPolicy)
        bench.provider.publish(reset, [published(SigningKey.shared)])
        bench.time.advance(seconds: 2)
        bench.refresh()
        #expect(await bench.refusal(token("B2C_1_reset")) == nil)
    }

    @Test(arguments: [false, true])
    func `After a rotation, a token of the policy that is fetched last waits for it, and is not called invalid`(
        isFetchLonger: Bool
    ) async throws {
        let bench = Bench.loaded([signIn, reset]) { if isFetchLonger { $0.timing.patience = .milliseconds(100) } }
        for source in [signIn, reset] { bench.provider.publish(source, [published(SigningKey.other, kid: "key-2")]) }
        // The first policy is fetched anew, the second hangs.
        bench.time.advance(seconds: 7200)
        let isOver = Flag()
        bench.provider.hold(reset.metadataURL)
        let refresh = try NamedThread.start("refresh") {
            bench.refresh()
            isOver.set()
        }
        await eventually("the first policy is loaded") { bench.verifier.status.keyIdentifiers.contains("key-2") }
        let token = makeToken(
            claims: TestClaims.good.with("tfp", "B2C_1_reset").with("exp", .integer(TestClaims.now + 9000)),
            header: TestClaims.header.with("kid", "key-2"), key: SigningKey.other)
        async let refusal = bench.refusal(token)
        if isFetchLonger {
            #expect(await refusal?.outcome == .unavailable(retryAfter: 1))
        } else {
            await eventually("the token waits for the second") { bench.verifier.status.waiters > 0 }
        }
        #expect(!isOver.isSet)
        bench.provider.hold(nil)
        if !isFetchLonger { #expect(await refusal == nil) }
        refresh.join()
        #expect(await bench.refusal(token) == nil)
    }

    @Test func `The same kid with other numbers under another policy is a second key, never a replacement`() async {
        let bench = Bench([signIn, reset])
        bench.provider.publish(reset, [published(SigningKey.other)])
        bench.verifier.loadOnce()
        #expect(await bench.refusal(token("B2C_1_sign_in", true)) == nil)
        #expect(await bench.refusal(token("B2C_1_reset", false)) == nil)
        #expect(await bench.refusal(token("B2C_1_sign_in", false)) == .wrongPolicy)
        #expect(await bench.refusal(token("B2C_1_reset", true)) == .wrongPolicy)
    }

    @Test func `After a host could not be reached, the second policy on it is not tried (V-72)`() {
        let bench = Bench([signIn, reset])
        bench.provider.fail(.timedOut(reason: "test"))
        bench.verifier.loadOnce()
        #expect(bench.provider.asked == [signIn.metadataURL])
        #expect(bench.verifier.status.counters.failures == 2)
    }

    @Test func `A key set that cannot be reached at another port stops only what is at that port (V-72)`() {
        let third = policy("B2C_1_edit")
        let bench = Bench([signIn, reset, third])
        let elsewhere = "https://contoso.b2clogin.com:8443/keys"
        for (source, url) in [(signIn, elsewhere), (third, elsewhere + "/of-third")] {
            bench.provider.set(
                source.metadataURL, ["issuer": .string(TestClaims.issuer), "jwks_uri": .string(url)])
            bench.provider.set(url, .failure(.timedOut(reason: "test")))
        }
        bench.verifier.loadOnce()
        #expect(
            bench.provider.asked == [
                signIn.metadataURL, elsewhere, reset.metadataURL, reset.metadataURL + "/keys", third.metadataURL,
            ])
        let status = bench.verifier.status
        #expect(status.keyIdentifiers == [TestClaims.keyIdentifier] && status.counters.failures == 2)
        #expect(status.lastFailure?.hasPrefix("B2C_1_edit: there was no answer in time: test;") == true)
    }

    @Test(arguments: [(600, 900), (900, 600)])
    func `The shorter max-age counts, and Retry-After is obeyed (V-89, V-99)`(metadata: Int, keys: Int) {
        let bench = Bench([signIn])
        bench.provider.publish(signIn, [published(SigningKey.shared)], maxAge: metadata)
        bench.provider.set(
            signIn.metadataURL + "/keys", ["keys": .array([published(SigningKey.shared)])], maxAge: keys)
        // Less half of a tenth.
        #expect(bench.refresh() == 570)
        bench.provider.fail(.busy(status: 503, retryAfter: 77))
        bench.time.advance(seconds: 570)
        #expect(bench.refresh() == 77)
    }

    @Test func `A key set that both policies name is fetched once per refresh`() {
        let bench = Bench([signIn, reset])
        let keysURL = signIn.metadataURL + "/keys"
        bench.provider.set(
            reset.metadataURL, ["issuer": .string(TestClaims.issuer), "jwks_uri": .string(keysURL)])
        bench.verifier.loadOnce()
        #expect(bench.provider.asked == [signIn.metadataURL, keysURL, reset.metadataURL])
    }

    @Test func `A key that both policies publish is checked once, whether fetched or read from the file`() throws {
        let folder = try TemporaryFolder()
        let bench = Bench([signIn, reset]) { $0.keyCacheFile = "\(folder.path)/keys.json" }
        bench.verifier.loadOnce()
        let restarted = Bench([signIn, reset]) { $0.keyCacheFile = "\(folder.path)/keys.json" }
        restarted.verifier.readFile()
        for verifier in [bench.verifier, restarted.verifier] {
            let keys = verifier.keys.documents.compactMap { $0.keys?.keys.first?.key }
            #expect(keys.count == 2 && keys[0] === keys[1])
        }
        bench.time.advance(seconds: 3600)
        let before = bench.verifier.keys.documents[1].keys?.keys.first?.key
        bench.refresh()
        #expect(before != nil && bench.verifier.keys.documents[0].keys?.keys.first?.key === before)
    }

    @Test func `The check of the settings says for each metadata document what is wrong and what to do`() {
        let bench = Bench([signIn, reset])
        bench.provider.publish(reset, [published(SigningKey.shared)], issuer: "https://evil.example/")
        var configuration = IssuerKeysConfiguration(documents: [signIn, reset], rules: TestClaims.rules)
        let reports = configuration.check(fetcher: bench.provider)
        #expect(reports.map(\.document.name) == ["B2C_1_sign_in", "B2C_1_reset"])
        #expect(reports[0].trusted != nil && reports[0].keys.map(\.keyIdentifier) == [TestClaims.keyIdentifier])
        let foreign = MetadataError.foreignIssuer.message { "TASKS_\($0)" }
        #expect(reports[1].problem == "\(foreign) (TASKS_ISSUER=https://evil.example/)")

        configuration.documents[1].rules.pinnedIssuer = TestClaims.issuer
        let unexpected = MetadataError.unexpectedIssuer.message { "TASKS_\($0)" }
        #expect(configuration.check(fetcher: bench.provider)[1].problem == unexpected)
        bench.provider.set(signIn.metadataURL, .failure(.status(404)))
        #expect(configuration.check(fetcher: bench.provider)[0].problem?.contains("no such tenant or policy") == true)
        bench.provider.set(signIn.metadataURL, .failure(.couldNotResolve(host: "contoso.b2clogin.com")))
        #expect(configuration.check(fetcher: bench.provider)[0].problem?.contains("cannot resolve") == true)
    }
}
