import Basics
import JSON
import Support
import Testing
import Tokens

@testable import IssuerKeys

@Suite("Verified tokens are cached only as long as they would be accepted anew")
struct TokenCacheTests {
    private let entry: TokenCacheShard.Entry

    init() throws {
        let verified = try TestClaims.rules.check(
            Claims(of: CompactToken(makeToken())), of: TestClaims.issuers, now: TestClaims.now)
        entry = .init(verified: verified, source: 0, generation: 1, verifyAgainAt: 0)
    }

    /// Something as long as a token.
    private func text(_ number: Int) -> String {
        let digits = String(number)
        return String(repeating: "x", count: 900 - digits.count) + digits
    }

    // MARK: One shard

    @Test func `The cache has no more entries and bytes than allowed (V-105, V-106)`() {
        var entries = TokenCacheShard(mostEntries: 100, mostBytes: 1 << 30)
        var bytes = TokenCacheShard(mostEntries: 1 << 30, mostBytes: 50_000)
        for number in 0..<1000 {
            entries.insert(text(number), entry)
            bytes.insert(text(number), entry)
            guard entries.status.entries <= 100, bytes.status.bytes <= 50_000 else { break }
        }
        #expect(entries.status.entries == 100 && entries.status.evictions == 900)
        #expect(bytes.status.entries == 35 && bytes.status.bytes == 35 * (900 + TokenCacheShard.overhead))
        var tiny = TokenCacheShard(mostEntries: 10, mostBytes: 100)
        tiny.insert(text(1), entry)
        #expect(tiny.status.entries == 0)
    }

    @Test func `Tokens used once do not evict those in use, however many they are (V-106)`() {
        var shard = TokenCacheShard(mostEntries: 100, mostBytes: 1 << 30)
        let inUse = (0..<20).map(text)
        for text in inUse { shard.insert(text, entry) }
        var hits = 0
        for number in 0..<2000 {
            if number % 10 == 0 {
                for hot in inUse where shard.find(hot, isUsable: { _ in true }) != nil { hits += 1 }
            }
            shard.insert(text(1000 + number), entry)
        }
        #expect(hits == 200 * 20)
    }

    @Test func `Any order of insertions, hits and removals keeps the list consistent`() {
        var random = SeededRandom()
        var shard = TokenCacheShard(mostEntries: 8, mostBytes: 1 << 30)
        let tokens = (0..<24).map(text)
        for _ in 0..<5000 {
            let token = tokens[Int.random(in: 0..<24, using: &random)]
            switch Int.random(in: 0..<4, using: &random) {
            case 0: _ = shard.find(token, isUsable: { _ in false })
            case 1: _ = shard.find(token, isUsable: { _ in true })
            default: shard.insert(token, entry)
            }
            guard shard.status.entries <= 8 else { break }
        }
        let present = tokens.count { shard.find($0, isUsable: { _ in true }) != nil }
        #expect(present == shard.status.entries && present > 0)
        #expect(shard.status.bytes == present * (900 + TokenCacheShard.overhead))
    }

    @Test func `Only the same bytes are the same token (V-100)`() {
        let token = makeToken()
        var shard = TokenCacheShard(mostEntries: 10, mostBytes: 1 << 20)
        // Long enough to hold a K, which Unicode spells in two ways.
        shard.insert("K" + token, entry)
        #expect("K" + token == "\u{212A}" + token, "they are equal to Swift, or this test proves nothing")
        #expect(shard.find("\u{212A}" + token, isUsable: { _ in true }) == nil)
        #expect(shard.find("k" + token, isUsable: { _ in true }) == nil)
        #expect(shard.find(token, isUsable: { _ in true }) == nil)
        #expect(shard.find("K" + token, isUsable: { _ in true }) != nil)
    }

    @Test func `Short and empty texts have keys too`() {
        for text in ["", "a", "é", "0123456789abcdef", "\u{0}"] {
            #expect(TokenKey(Array(text.utf8).span) == TokenKey(Array(text.utf8).span))
            #expect((0..<16).contains(TokenKey(Array(text.utf8).span).shard(of: 16)))
        }
        #expect(TokenKey([0x61].span) != TokenKey([0x62].span))
    }

    @Test func `Real tokens are spread over the shards`() {
        let shards = Set(
            (0..<100).map { number in
                let token = makeToken(claims: TestClaims.good.with("name", .string("\(number)")))
                return TokenKey(Array(token.utf8).span).shard(of: 16)
            })
        #expect(shards.count > 10)
    }

    // MARK: With a verifier

    @Test func `Each verification is counted and timed, and a hit is none (V-165)`() async throws {
        var rules = TestClaims.rules
        rules.longestLifetime = 4_000_000_000
        let provider = FakeProvider()
        provider.publish(policy(), [published(SigningKey.shared)])
        // The verifier uses the machine's clocks, so that a verification takes time.
        let verifier = BearerVerifier(
            IssuerKeysConfiguration(documents: [policy()], rules: rules), fetcher: provider)
        let token = makeToken(claims: TestClaims.good.with("exp", .integer(4_000_000_000)))
        await #expect(throws: TokenRefusal.keysUnavailable(retryAfter: 1)) { try await verifier.principal(of: token) }
        #expect(verifier.verificationTimes.count == 0)
        verifier.loadOnce()
        for _ in 0..<3 { _ = try await verifier.principal(of: token) }
        #expect(verifier.verificationTimes.count == 1)
        let first = verifier.verificationTimes.totalNanoseconds
        #expect(first > 0)
        let forged = makeToken(key: SigningKey.other)
        await #expect(throws: TokenRefusal.badSignature) { try await verifier.principal(of: forged) }
        #expect(verifier.verificationTimes.count == 2 && verifier.verificationTimes.totalNanoseconds > first)
    }

    @Test func `Expiry is checked at every hit, to the second (V-104)`() async {
        let bench = Bench.loaded()
        let token = makeToken(claims: TestClaims.good.with("exp", .integer(TestClaims.now + 100)))
        #expect(await bench.refusal(token) == nil)
        bench.time.advance(seconds: 159)
        #expect(await bench.refusal(token) == nil)
        #expect(bench.verifier.tokenCacheStatus.hits == 1)
        bench.time.advance(seconds: 1)
        #expect(await bench.refusal(token) == .expired)
        #expect(bench.verifier.tokenCacheStatus.entries == 0)
    }

    @Test func `A clock that is set back makes cached tokens not yet valid (V-104)`() async {
        let bench = Bench.loaded()
        let token = makeToken()
        #expect(await bench.refusal(token) == nil)
        bench.time.setWall(by: -61)
        #expect(await bench.refusal(token) == .notYetValid)
    }

    @Test func `A token is verified anew after ten minutes`() async {
        let bench = Bench.loaded()
        let token = makeToken()
        for pause in [599.0, 1.0] {
            #expect(await bench.refusal(token) == nil)
            bench.time.advance(seconds: pause)
        }
        #expect(bench.verifier.tokenCacheStatus.hits == 1)
        #expect(await bench.refusal(token) == nil)
        #expect(bench.verifier.tokenCacheStatus.hits == 1)
    }

    @Test func `The same keys in another order keep the cached tokens, and other keys end their use (V-103)`() throws {
        let bench = Bench()
        let token = makeToken()
        let first = published(SigningKey.shared)
        let second = published(SigningKey.other, kid: "key-2")
        let third = published(SigningKey.other, kid: "key-3")
        func isCached(after keys: [JSONValue]) -> Bool {
            bench.provider.publish(bench.sources[0], keys)
            bench.time.advance(seconds: 5)
            bench.verifier.refreshNow()
            bench.refresh()
            return bench.verifier.cachedPrincipal(of: ArraySlice(token.utf8)) != nil
        }
        _ = isCached(after: [first, second])
        _ = try bench.verifier.beginVerifying(token)
        let since = bench.verifier.keys.current(now: bench.time.now).since
        #expect(isCached(after: [second, first]) && isCached(after: [first, second, first]))
        #expect(bench.verifier.keys.current(now: bench.time.now).since == since)
        #expect(!isCached(after: [first, third]))
        _ = try bench.verifier.beginVerifying(token)
        #expect(!isCached(after: [first]))
        _ = try bench.verifier.beginVerifying(token)
        #expect(!isCached(after: [third, first]))
    }

    @Test func `Another issuer in the metadata ends the use of cached tokens (V-103)`() async {
        let bench = Bench.loaded()
        #expect(await bench.refusal(makeToken()) == nil)
        let issuer = "https://contoso.b2clogin.com/tfp/775527ff-9a37-4307-8b3d-cc311f58d925/b2c_1_sign_in/v2.0/"
        bench.provider.publish(bench.sources[0], [published(SigningKey.shared)], issuer: issuer)
        bench.verifier.refreshNow()
        bench.refresh()
        #expect(await bench.refusal(makeToken()) == .wrongIssuer)
    }
}

extension TokenCacheShard {
    fileprivate mutating func insert(_ token: String, _ entry: Entry) {
        insert(TokenKey(Array(token.utf8).span), Array(token.utf8), entry)
    }

    fileprivate mutating func find(_ token: String, isUsable: (Entry) -> Bool) -> VerifiedToken? {
        let bytes = ArraySlice(token.utf8)
        return find(TokenKey(bytes.span), bytes, isUsable: isUsable)
    }
}
