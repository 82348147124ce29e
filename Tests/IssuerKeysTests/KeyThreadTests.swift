import IssuerKeys
import JSON
import Support
import Testing
import Tokens

@Suite("The threads of the key cache fetch, wait and stop")
struct KeyThreadTests {
    private let provider = FakeProvider()

    /// A verifier that runs on the machine's clocks.
    private func running(_ change: (inout IssuerKeysConfiguration) -> Void = { _ in }) throws -> BearerVerifier {
        var rules = TestClaims.rules
        rules.longestLifetime = 4_000_000_000
        var configuration = IssuerKeysConfiguration(documents: [policy()], rules: rules)
        change(&configuration)
        provider.publish(policy(), [published(SigningKey.shared)])
        let verifier = BearerVerifier(configuration, fetcher: provider)
        try verifier.start()
        return verifier
    }

    private func token(kid: String = TestClaims.keyIdentifier) -> String {
        let claims = TestClaims.good.with("exp", .integer(4_000_000_000))
        return makeToken(claims: claims, header: TestClaims.header.with("kid", .string(kid)))
    }

    /// Waits until the first refresh is over, so that later requests do not wait for it.
    private func waitForKeys(_ verifier: BearerVerifier) async {
        await eventually("the first refresh is over") { verifier.status.counters.refreshes > 0 }
    }

    /// Waits until a fetch hangs in the provider.
    private func waitForHang() async {
        await eventually("a fetch hangs") { provider.isRunning }
    }

    @Test func `Keys are fetched without a request, and one fetch at a time runs (V-70, V-77)`() async throws {
        let verifier = try running()
        defer { verifier.stop() }
        await waitForKeys(verifier)
        let tokens = (0..<4).map { task in (0..<3).map { token(kid: "\(task)-\($0)") } }
        let start = ContinuousClock.now
        await withTaskGroup(of: Void.self) { group in
            for tokens in tokens {
                group.addTask {
                    for request in 0..<500 {
                        if request % 50 == 0 { verifier.refreshNow() }
                        _ = await verifier.refusal(of: tokens[request % 3])
                    }
                }
            }
        }
        #expect(provider.mostRunning == 1)
        // At the start and after a forced refresh every 5 s, metadata and keys; after a permit of two and one more
        // every 30 s, at most both.
        let seconds = Int(start.duration(to: .now).components.seconds) + 1
        #expect(provider.asked.count <= 2 * (1 + 1 + seconds / 5 + 2 + seconds / 30))
    }

    @Test func `A provider that hangs delays tokens of unknown keys only until the deadline (V-81)`() async throws {
        let verifier = try running { $0.timing.patience = .milliseconds(200) }
        defer { verifier.stop() }
        await waitForKeys(verifier)
        provider.isHeld = true
        let start = ContinuousClock.now
        #expect(await verifier.refusal(of: token(kid: "new")) == .keysUnavailable(retryAfter: 1))
        #expect(start.duration(to: .now) >= .milliseconds(200))
        await waitForHang()
    }

    @Test("A provider that hangs delays no token of a known key, and a stop does not wait for its answer (V-78, V-91)")
    func stopping() async throws {
        let verifier = try running { $0.timing.patience = .seconds(3600) }
        await waitForKeys(verifier)
        provider.isHeld = true
        async let unknown = verifier.refusal(of: token(kid: "new"))
        await waitForHang()
        for number in 0..<100 {
            let claims = TestClaims.good.with("exp", .integer(4_000_000_000)).with("name", .string("\(number)"))
            #expect(await verifier.refusal(of: makeToken(claims: claims)) == nil)
        }
        await eventually("the token waits") { verifier.status.waiters == 1 }
        #expect(provider.isRunning)
        let start = ContinuousClock.now
        verifier.stop()
        #expect(start.duration(to: .now) < .seconds(120))
        #expect(await unknown == .keysUnavailable(retryAfter: 1))
        // Tokens of known keys are still verified; those of unknown keys do not wait.
        #expect(await verifier.refusal(of: token()) == nil)
        #expect(await verifier.refusal(of: token(kid: "other")) == .keysUnavailable(retryAfter: 1))
        verifier.stop()
    }

    @Test func `Keys change under load without a wrong answer (V-41)`() async throws {
        let verifier = try running { $0.timing.patience = .seconds(60) }
        defer { verifier.stop() }
        await waitForKeys(verifier)
        let (good, next) = (
            token(),
            makeToken(
                claims: TestClaims.good.with("exp", .integer(4_000_000_000)),
                header: TestClaims.header.with("kid", "key-2"),
                key: SigningKey.other)
        )
        let isDone = Flag()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<3 {
                group.addTask {
                    while !isDone.isSet {
                        #expect(await verifier.refusal(of: good) == nil)
                        await Task.yield()
                    }
                }
            }
            provider.publish(policy(), [published(SigningKey.shared), published(SigningKey.other, kid: "key-2")])
            #expect(await verifier.refusal(of: next) == nil)
            isDone.set()
        }
    }
}
