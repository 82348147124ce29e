import Basics
import Curl
import JSON
import Support
import Synchronization
import Testing
import Tokens

@testable import IssuerKeys

@Suite("Tokens are accepted by the keys that the provider publishes")
struct KeyLifeTests {
    private let good = makeToken()

    @Test func `Without keys, a token of the right form cannot be verified, and any other is refused (V-71)`() async {
        let bench = Bench()
        #expect(await bench.refusal(good) == .keysUnavailable(retryAfter: 1))
        #expect(await bench.refusal("garbage") == .notThreeSegments)
        #expect(await bench.refusal("a.b.c!") == .notBase64URL)
        #expect(bench.verifier.status.state == .empty && bench.provider.asked.isEmpty)
    }

    @Test
    func `A token whose key is known is decided at once; one waits only for a key that may come (V-78, V-81)`() throws {
        let verifier = Bench.loaded().verifier
        let isVerified = if case .verified = try verifier.beginVerifying(good) { true } else { false }
        #expect(isVerified)
        #expect(verifier.cachedPrincipal(of: ArraySlice(good.utf8)) != nil)
        let expired = makeToken(claims: TestClaims.good.with("exp", .integer(TestClaims.now - 3600)))
        #expect(throws: TokenRefusal.expired) { try verifier.beginVerifying(expired) }
        let unknown = makeToken(header: TestClaims.header.with("kid", "new"))
        let isWaiting = if case .waiting = try verifier.beginVerifying(unknown) { true } else { false }
        #expect(isWaiting)
    }

    @Test func `A provider that comes back is found after one pause (V-72)`() async {
        let bench = Bench()
        bench.provider.fail(.couldNotConnect(reason: "refused"))
        var pause = 0.0
        for _ in 0..<10 {
            pause = bench.refresh()
            bench.time.advance(seconds: pause)
        }
        #expect(pause == 4 && bench.verifier.status.isDegraded)
        #expect(await bench.refusal(good) == .keysUnavailable(retryAfter: 1))
        bench.provider.publish(bench.sources[0], [published(SigningKey.shared)])
        bench.refresh()
        #expect(await bench.refusal(good) == nil)
        let changes = bench.events.all.filter { if case .stateChanged = $0 { true } else { false } }
        #expect(changes == [.stateChanged(from: .empty, to: .fresh)])
    }

    @Test
    func `Whenever a source counts as serving, its keys verify tokens, fetched ones and those of the file`() throws {
        let folder = try TemporaryFolder()
        let bench = Bench()
        var configuration = IssuerKeysConfiguration(documents: bench.sources, rules: TestClaims.rules)
        configuration.keyCacheFile = "\(folder.path)/keys.json"
        for load in [{ $0.loadOnce() }, { $0.readFile() }] as [(BearerVerifier) -> Void] {
            let observed = Observed()
            let verifier = BearerVerifier(
                configuration, time: bench.time, fetcher: bench.provider, chance: { 0.5 },
                observer: { _ in observed.look() })
            observed.verifier.withLock { $0 = verifier }
            defer { observed.verifier.withLock { $0 = nil } }  // Each holds the other.
            load(verifier)
            #expect(observed.looks.withLock { $0 }.contains(true) && !observed.looks.withLock { $0 }.contains(false))
        }
    }

    /// Looks, at each event of a verifier that serves, whether it has keys.
    private final class Observed: Sendable {
        let verifier = Mutex<BearerVerifier?>(nil)
        let looks = Mutex<[Bool]>([])

        func look() {
            guard let verifier = verifier.withLock({ $0 }), verifier.status.state.serves else { return }
            let hasKeys = !verifier.keys.current(now: verifier.time.now).entries.isEmpty
            looks.withLock { $0.append(hasKeys) }
        }
    }

    @Test func `A new key is fetched when its first token comes, without the metadata (V-81, V-82)`() async {
        let bench = Bench.loaded()
        let token = makeToken(header: TestClaims.header.with("kid", "key-2"), key: SigningKey.other)
        let both = [published(SigningKey.shared), published(SigningKey.other, kid: "key-2")]
        bench.provider.publish(bench.sources[0], both)
        #expect(await bench.refusalDuringRefresh(token) == nil)
        #expect(bench.provider.asked == [bench.sources[0].metadataURL + "/keys"])
        #expect(await bench.refusal(good) == nil)
    }

    @Test(arguments: [404, 410])
    func `A key set that moved is found through the metadata (V-82)`(status: Int) async {
        let bench = Bench.loaded()
        let source = bench.sources[0]
        bench.provider.set(source.metadataURL + "/keys", .failure(.status(status)))
        let newURL = "https://contoso.b2clogin.com/new/keys"
        bench.provider.set(source.metadataURL, ["issuer": .string(TestClaims.issuer), "jwks_uri": .string(newURL)])
        bench.provider.set(newURL, ["keys": .array([published(SigningKey.other, kid: "key-2")])])
        let token = makeToken(header: TestClaims.header.with("kid", "key-2"), key: SigningKey.other)
        #expect(await bench.refusalDuringRefresh(token) == nil)
        #expect(bench.provider.asked == [source.metadataURL + "/keys", source.metadataURL, newURL])
    }

    @Test("A key that is not published is refused after a refresh, and at once when no refresh is allowed (V-39, V-79)")
    func unknownKey() async {
        let bench = Bench.loaded()
        for number in 0..<2 {
            let token = makeToken(header: TestClaims.header.with("kid", .string("new-\(number)")))
            #expect(await bench.refusalDuringRefresh(token) == .unknownKey)
        }
        for number in 0..<200 {
            // A signature of no key: the header alone decides.
            let header = JSONValue.object(TestClaims.header.with("kid", .string("unknown-\(number)"))).serialized()
            #expect(await bench.refusal(Base64URL.encode(header) + ".e30.AA") == .unknownKey)
        }
        #expect(bench.provider.asked.count == 2)
        #expect(bench.verifier.status.counters.unknownKeys == 202)
        #expect(bench.events.all.count { $0 == .unknownKeysLimited() } == 1)
        // Known keys are not affected.
        #expect(await bench.refusal(good) == nil)
    }

    @Test func `An unknown key whose refresh fails is not called invalid (V-118)`() async {
        let bench = Bench.loaded()
        bench.provider.fail(.timedOut(reason: "test"))
        let token = makeToken(header: TestClaims.header.with("kid", "new"))
        #expect(await bench.refusalDuringRefresh(token) == .keysUnavailable(retryAfter: 1))
        #expect(await bench.refusalDuringRefresh(token) == .keysUnavailable(retryAfter: 2))
        #expect(await bench.refusal(token) == .keysUnavailable(retryAfter: 2))
        #expect(await bench.refusal(good) == nil)
    }

    @Test func `At most 64 requests wait for a refresh, for 2 s, and its end resumes them all (V-81)`() async {
        #expect(KeyTiming().mostWaiters == 64 && KeyTiming().patience == .seconds(2))
        let bench = Bench.loaded()
        let token = makeToken(header: TestClaims.header.with("kid", "new"))
        await withTaskGroup(of: TokenRefusal?.self) { group in
            for _ in 0..<64 { group.addTask { await bench.refusal(token) } }
            await eventually("64 requests wait") { bench.verifier.status.waiters == 64 }
            #expect(await bench.refusal(token) == .keysUnavailable(retryAfter: 1))
            bench.refresh()
            // They are resumed, and do not have to ask whether the refresh has ended.
            #expect(bench.verifier.status.waiters == 0)
            for await refusal in group { #expect(refusal == .unknownKey) }
        }
    }

    @Test func `A key that disappears is refused from the next load on (V-84)`() async {
        let bench = Bench.loaded()
        #expect(await bench.refusal(good) == nil)
        bench.provider.publish(bench.sources[0], [published(SigningKey.other, kid: "key-2")])
        bench.time.advance(seconds: 3600)
        bench.refresh()
        #expect(await bench.refusalDuringRefresh(good) == .unknownKey)
    }

    @Test
    func `A key with the kid of another replaces it, and the tokens of the old one are refused (V-85, V-103)`() async {
        let bench = Bench.loaded()
        #expect(await bench.refusal(good) == nil)
        bench.provider.publish(bench.sources[0], [published(SigningKey.other)])
        #expect(bench.verifier.refreshNow())
        bench.refresh()
        #expect(await bench.refusalDuringRefresh(good) == .badSignature)
        #expect(await bench.refusal(makeToken(key: SigningKey.other)) == nil)
    }

    @Test(arguments: [
        "{}", "[]", "{\"keys\":[]}", "{\"keys\":[{\"kty\":\"oct\",\"kid\":\"key-1\",\"k\":\"AA\"}]}", "x", "",
    ])
    func `A load without a usable key changes nothing (V-80)`(body: String) async {
        let bench = Bench.loaded()
        bench.provider.set(
            bench.sources[0].metadataURL + "/keys", .success(FetchedDocument(body: Array(body.utf8))))
        bench.time.advance(seconds: 3600)
        bench.refresh()
        #expect(bench.verifier.status.isDegraded && bench.verifier.status.state == .stale)
        #expect(
            await bench.refusal(makeToken(claims: TestClaims.good.with("exp", .integer(TestClaims.now + 9000)))) == nil)
    }

    @Test
    func `An outage has no effect for a day; then tokens cannot be verified, cached or not (V-83, V-107)`() async {
        let bench = Bench.loaded()
        // An hour older than the keys, so that it outlives them; cached from the first use on.
        let claims = TestClaims.good.with("exp", .integer(TestClaims.now + 86_400 + 50))
        let token = makeToken(claims: claims)
        bench.provider.fail(.timedOut(reason: "test"))
        while bench.verifier.status.ageSeconds ?? 0 < 86_300 {
            bench.time.advance(seconds: bench.refresh())
            guard await bench.refusal(token) == nil else {
                Issue.record("refused at \(bench.verifier.status)")
                return
            }
        }
        #expect(bench.verifier.status.state == .stale && bench.verifier.tokenCacheStatus.hits > 0)
        bench.time.advance(seconds: 86_399.9 - Double(bench.verifier.status.ageSeconds ?? 0))
        bench.time.advance(seconds: 0.1 + 1)
        #expect(await bench.refusal(token)?.code == "keys_unavailable", "\(bench.verifier.status)")
        #expect(bench.verifier.status.state == .expired && bench.verifier.status.keyIdentifiers.isEmpty)
    }

    @Test func `A change of the wall clock expires no keys (V-64)`() async {
        let bench = Bench.loaded()
        bench.time.setWall(by: 400 * 86_400)
        #expect(bench.verifier.status.state == .fresh)
        bench.time.setWall(by: -800 * 86_400)
        #expect(bench.verifier.status.state == .fresh && bench.verifier.status.ageSeconds == 0)
    }

    @Test(arguments: [false, true])
    func `A distrusted key is never used, and one that becomes distrusted no more, also from the cache (V-97)`(
        isLater: Bool
    ) async {
        let bench = Bench([policy()], keys: [published(SigningKey.shared), published(SigningKey.other, kid: "key-2")]) {
            if !isLater { $0.distrustedKeys = [TestClaims.keyIdentifier] }
        }
        bench.verifier.loadOnce()
        if isLater {
            #expect(await bench.refusal(good) == nil)
            #expect(bench.verifier.cachedPrincipal(of: ArraySlice(good.utf8)) != nil)
            bench.verifier.distrust([TestClaims.keyIdentifier])
        } else {
            let skipped = bench.events.all.compactMap { if case .keySkipped(_, let key) = $0 { key } else { nil } }
            #expect(skipped.map(\.keyIdentifier) == [TestClaims.keyIdentifier])
        }
        #expect(bench.verifier.cachedPrincipal(of: ArraySlice(good.utf8)) == nil)
        #expect(bench.verifier.status.keyIdentifiers == ["key-2"])
        #expect(await bench.refusalDuringRefresh(good) == .unknownKey)
    }

    @Test func `Key identifiers are compared by bytes (V-27)`() async {
        let bench = Bench(keys: [published(SigningKey.shared, kid: "e\u{301}")])
        bench.verifier.loadOnce()
        #expect(await bench.refusal(makeToken(header: TestClaims.header.with("kid", "e\u{301}"))) == nil)
        let composed = makeToken(header: TestClaims.header.with("kid", "\u{e9}"))
        #expect(await bench.refusalDuringRefresh(composed) == .unknownKey)
    }

    @Test func `Skipped keys are reported once per set, and loads with the keys that are new or gone (V-38, V-133)`() {
        let weak: JSONValue = ["kid": "weak", "kty": "RSA", "n": "AQAB", "e": "AQAB"]
        let bench = Bench(keys: [published(SigningKey.shared), weak])
        bench.verifier.loadOnce()
        bench.time.advance(seconds: 3600)
        bench.provider.publish(bench.sources[0], [published(SigningKey.other, kid: "key-2"), weak])
        bench.refresh()
        let name = TestClaims.policy
        let skipped = SkippedKey(keyIdentifier: "weak", reason: "its modulus does not have 2048 to 8192 bits (kty RSA)")
        #expect(
            bench.events.all == [
                .loaded(source: name, keys: 1, added: ["key-1"], removed: []), .keySkipped(source: name, key: skipped),
                .stateChanged(from: .empty, to: .fresh),
                .loaded(source: name, keys: 1, added: ["key-2"], removed: ["key-1"]),
            ])
        #expect(bench.verifier.status.counters.loads == 2 && bench.verifier.status.counters.refreshes == 2)
    }

    @Test
    func `The private half of a key is reported once, also if the key was known before it came (V-37, V-133)`() throws {
        let folder = try TemporaryFolder()
        let bench = Bench { $0.keyCacheFile = "\(folder.path)/keys.json" }
        let withPrivateHalf = JSONValue.object((published(SigningKey.shared).object ?? [:]).with("d", "AQAB"))
        let reports = { (bench: Bench) in
            bench.events.all.count { $0 == .privateKeyPublished(source: TestClaims.policy, keyIdentifier: "key-1") }
        }
        bench.verifier.loadOnce()
        #expect(reports(bench) == 0)
        bench.provider.publish(bench.sources[0], [withPrivateHalf])
        for _ in 0..<2 {
            bench.time.advance(seconds: 3600)
            bench.refresh()
            #expect(reports(bench) == 1)
        }
        // The file has public keys only: whoever starts the server again hears of it again.
        let restarted = Bench(keys: [withPrivateHalf]) { $0.keyCacheFile = "\(folder.path)/keys.json" }
        restarted.time.advance(seconds: 7200)
        restarted.verifier.readFile()
        #expect(restarted.verifier.status.keyIdentifiers == ["key-1"] && reports(restarted) == 0)
        restarted.refresh()
        #expect(reports(restarted) == 1)
    }
}
