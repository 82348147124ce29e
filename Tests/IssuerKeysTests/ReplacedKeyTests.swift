import Basics
import JSON
import OpenSSL
import Support
import Testing
import Tokens

@testable import IssuerKeys

@Suite("A provider may put another key under a kid that is known (V-98)")
struct ReplacedKeyTests {
    private let good = makeToken()
    private let forged = makeToken(key: SigningKey.other)

    @Test func `The first token of the new key asks for the keys and is accepted, without the metadata`() async {
        let bench = Bench.loaded()
        bench.provider.publish(bench.sources[0], [published(SigningKey.other)])
        #expect(await bench.refusalDuringRefresh(forged) == nil)
        #expect(bench.provider.asked == [bench.sources[0].metadataURL + "/keys"])
        // The token of the key before may ask once more in a minute, and is refused.
        #expect(await bench.refusal(good) == .badSignature)
    }

    @Test func `Also if the new key is for another algorithm`() async throws {
        let key = try PrivateKey.generate(.es256)
        var provider = TestProvider.keycloak
        provider.source.algorithms = [.rs256, .es256]
        let bench = Bench.loaded([provider])
        bench.verifier.keys.allowWaits()
        provider.key = key
        provider.publish(on: bench.provider)
        let header = TestClaims.header.with("kid", .string(provider.keyIdentifier)).with("alg", "ES256")
        let claims = TestClaims.good.with("tfp", nil).with("iss", .string(provider.issuer)).with("aud", "work-app")
        #expect(await bench.refusalDuringRefresh(makeToken(claims: claims, header: header, key: key)) == nil)
    }

    @Test func `However many bad signatures come, the provider is asked once a minute, and nobody else waits`() async {
        let bench = Bench.loaded()
        let isRefused = {
            do throws(TokenRefusal) {
                _ = try bench.verifier.beginVerifying(forged)
                return false
            } catch {
                return error == .badSignature
            }
        }
        #expect(await bench.refusalDuringRefresh(forged) == .badSignature)
        for second in 0..<60 {
            #expect(isRefused(), "at \(second) s")
            bench.time.advance(seconds: 1)
        }
        #expect(bench.provider.asked.count == 1)
        #expect(await bench.refusalDuringRefresh(forged) == .badSignature)
        #expect(bench.provider.asked.count == 2)
        // Neither tokens of known keys nor the permits of unknown ones are affected.
        #expect(await bench.refusal(good) == nil)
        for kid in ["new-1", "new-2"] {
            let token = makeToken(header: TestClaims.header.with("kid", .string(kid)))
            #expect(await bench.refusalDuringRefresh(token) == .unknownKey)
        }
        #expect(bench.provider.asked.count == 4)
    }

    @Test func `While the keys are fetched, bad signatures take half of the places at most`() {
        var state = KeyCacheState(count: 1, timing: KeyTiming(), now: 0)
        #expect(state.decide(on: .badSignature, now: 0) == .refuse)
        state.start()
        #expect(state.decide(on: .badSignature, now: 0, waiting: 32) == .refuse)
        #expect(state.waits(for: .badSignature, now: 0) == true)
        #expect(state.waits(for: .badSignature, now: 1, waiting: 31) == true)
        #expect(state.decide(on: .badSignature, now: 1, waiting: 32) == .unavailable(retryAfter: 1))
        #expect(state.waits(for: .unknownKey, now: 1, waiting: 32) == true)
    }

    @Test func `A key of another source is no reason to ask (P-21)`() async {
        var external = TestProvider.external()
        external.keyIdentifier = TestClaims.keyIdentifier
        let bench = Bench.loaded([.b2c, external])
        bench.verifier.keys.allowWaits()
        #expect(await bench.refusal(TestProvider.b2c.token(key: external)) == .wrongIssuer)
        #expect(bench.provider.asked.isEmpty)
    }
}
