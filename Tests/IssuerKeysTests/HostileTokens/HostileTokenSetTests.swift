import Basics
import Curl
import JSON
import OpenSSL
import Support
import Testing
import Tokens

@testable import IssuerKeys

/// The project's own set of hostile tokens, each with one fault, mixed with good ones.
@Suite("Each of a set of hostile tokens is refused for its fault, in any order (V-29, V-108)")
struct HostileTokenSetTests {
    /// Signed once for all tests.
    private static let tokens = Result { (hostile: try HostileToken.all(), good: try GoodToken.all()) }
    private let hostile: [HostileToken]
    private let good: [GoodToken]

    init() throws {
        (hostile, good) = try Self.tokens.get()
    }

    /// A verifier with two policies, whose first publishes three keys and whose second one of its own.
    private func verifier(cacheEntries: Int) throws -> BearerVerifier {
        let sources = [policy(), policy("B2C_1_reset")]
        var configuration = IssuerKeysConfiguration(documents: sources, rules: TestClaims.rules)
        configuration.tokenCacheEntries = cacheEntries
        let provider = FakeProvider()
        let vectors = try HostileToken.forgedVectors()["keys"].array ?? []
        provider.publish(sources[0], [published(SigningKey.shared)] + vectors)
        provider.publish(sources[1], [published(SigningKey.other, kid: "key-2")])
        let verifier = BearerVerifier(
            configuration, time: ManualClock(wallMilliseconds: TestClaims.now * 1000), fetcher: provider)
        // Without threads: an unknown key is unknown at once.
        verifier.loadOnce()
        #expect(verifier.status.keyIdentifiers.count == 4 && !verifier.status.isDegraded)
        return verifier
    }

    @Test func `There are at least 300 tokens with one fault each, all different, and 30 good ones`() {
        #expect(hostile.count >= 300 && good.count >= 30)
        #expect(
            Dictionary(grouping: hostile) { Array($0.text.utf8) }.values.filter { $0.count > 1 }.map { $0.map(\.name) }
                == [])
        #expect(Dictionary(grouping: hostile, by: \.name).filter { $1.count > 1 }.keys.sorted() == [])
        #expect(Set(hostile.map(\.text)).isDisjoint(with: good.map(\.text)))
        #expect(Set(good.map { Array($0.text.utf8) }).count == good.count)
        // Every reason for a refusal but missing keys.
        #expect(Set(hostile.map(\.refusal.code)).count == 25)
    }

    @Test func `Each token has its result, from the verifier and from the explanation`() async throws {
        let verifier = try verifier(cacheEntries: 0)
        for token in hostile {
            let answer = await verifier.refusal(of: token.text)
            #expect(answer == token.refusal, "\(token.name)")
            let outcome: TokenRefusal.Outcome? =
                switch token.refusal {
                case .expired: .expired
                case .tooLong: .tooLong
                default: .invalid
                }
            #expect(answer?.outcome == outcome, "\(token.name)")
            #expect(verifier.explain(token.text).refusal == token.refusal, "\(token.name)")
        }
        for token in good {
            #expect(await verifier.refusal(of: token.text) == nil, "\(token.name)")
            #expect(verifier.explain(token.text).refusal == nil, "\(token.name)")
        }
    }

    @Test(
        "Each token has its result in every algorithm, also with keys from the file",
        arguments: isSanitized ? [.es256] : SignatureAlgorithm.allCases)
    func inEveryAlgorithm(algorithm: SignatureAlgorithm) async throws {
        let trial = try AlgorithmTrial(algorithm)
        let (hostile, good) = (try trial.hostile(hostile), try trial.good(good))
        #expect(hostile.count > 400 && good.count >= 30)
        let folder = try TemporaryFolder()
        var configuration = IssuerKeysConfiguration(
            documents: [policy(), policy("B2C_1_reset")], rules: TestClaims.rules)
        configuration.keyCacheFile = "\(folder.path)/keys.json"
        configuration.sources[0].algorithms = [algorithm]
        let provider = FakeProvider()
        provider.publish(policy(), [published(trial.key)])
        provider.publish(policy("B2C_1_reset"), [published(trial.otherKey, kid: "key-2")])
        let clock = ManualClock(wallMilliseconds: TestClaims.now * 1000)
        let verifier = BearerVerifier(configuration, time: clock, fetcher: provider)
        verifier.loadOnce()
        provider.fail(.couldNotConnect(reason: "test"))
        let restarted = BearerVerifier(configuration, time: clock, fetcher: provider)
        restarted.readFile()
        for token in hostile {
            #expect(await restarted.refusal(of: token.text) == token.refusal, "\(token.name)")
        }
        for token in good {
            #expect(await verifier.refusal(of: token.text) == nil, "\(token.name)")
            #expect(await restarted.refusal(of: token.text) == nil, "\(token.name)")
        }
    }

    @Test
    func `A token of an algorithm that the settings do not allow is refused without a fetch (V-21)`() async throws {
        let key = try PrivateKey.generate(.es256)
        let provider = FakeProvider()
        provider.publish(policy(), [published(SigningKey.shared), published(key, kid: "key-2")])
        var configuration = IssuerKeysConfiguration(documents: [policy()], rules: TestClaims.rules)
        let header = TestClaims.header.with("alg", "ES256")
        for (algorithms, refusal) in [([.rs256, .es256], nil), ([.rs256], .wrongAlgorithm)]
            as [([SignatureAlgorithm], TokenRefusal?)]
        {
            configuration.sources[0].algorithms = algorithms
            let verifier = BearerVerifier(
                configuration, time: ManualClock(wallMilliseconds: TestClaims.now * 1000), fetcher: provider)
            verifier.loadOnce()
            provider.forget()
            let token = makeToken(header: header.with("kid", "key-2"), key: key)
            #expect(await verifier.refusal(of: token) == refusal)
            #expect(await verifier.refusal(of: makeToken()) == nil)
            // A key of RS256 is not used for another algorithm, and an unknown key is not asked for.
            #expect(await verifier.refusal(of: makeToken(header: header, key: key)) == .wrongAlgorithm)
            if refusal != nil {
                #expect(await verifier.refusal(of: makeToken(header: header.with("kid", "x"), key: key)) == refusal)
            }
            #expect(provider.asked.isEmpty)
        }
    }

    @Test func `Keys of several algorithms may share a kid, and each verifies its own (V-38)`() async throws {
        let trials = try SignatureAlgorithm.allCases.map { try AlgorithmTrial($0) }
        let provider = FakeProvider()
        provider.publish(
            policy(),
            trials.map { trial in
                .object((published(trial.key).object ?? [:]).with("alg", .string(trial.algorithm.rawValue)))
            })
        let verifier = BearerVerifier(
            IssuerKeysConfiguration(documents: [policy()], rules: TestClaims.rules),
            time: ManualClock(wallMilliseconds: TestClaims.now * 1000), fetcher: provider)
        verifier.loadOnce()
        for trial in trials {
            let header = TestClaims.header.with("alg", .string(trial.algorithm.rawValue))
            #expect(await verifier.refusal(of: makeToken(header: header, key: trial.key)) == nil)
            #expect(await verifier.refusal(of: makeToken(header: header, key: trial.otherKey)) == .badSignature)
        }
    }

    @Test(
        "The results are the same shuffled and in parallel, with and without the cache",
        arguments: [0, 16, 10_000])
    func together(cacheEntries: Int) async throws {
        let verifier = try verifier(cacheEntries: cacheEntries)
        let expected = hostile.map { ($0.name, $0.text, Optional($0.refusal)) } + good.map { ($0.name, $0.text, nil) }
        var random = SeededRandom()
        let orders = (0..<4).map { _ in (expected + expected.suffix(100)).shuffled(using: &random) }
        // Those that share the last bytes of their signatures with a hostile one are cached first.
        for token in good { #expect(await verifier.refusal(of: token.text) == nil) }
        let wrong = await withTaskGroup(of: [String].self) { group in
            for order in orders {
                group.addTask {
                    var wrong: [String] = []
                    for (name, text, refusal) in order {
                        if refusal != nil, verifier.cachedPrincipal(of: ArraySlice(text.utf8)) != nil {
                            wrong.append("cached: \(name)")
                        }
                        let answer = await verifier.refusal(of: text)
                        if answer != refusal { wrong.append("\(name): \(answer?.code ?? "accepted")") }
                    }
                    return wrong
                }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
        #expect(wrong == [])
        let status = verifier.tokenCacheStatus
        #expect(cacheEntries == 0 ? status.hits == 0 : status.hits > 0)
        // Only the good ones were ever cached.
        #expect(status.entries == min(cacheEntries, good.count))
    }
}
