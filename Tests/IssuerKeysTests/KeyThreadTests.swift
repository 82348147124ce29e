import Curl
import IssuerKeys
import JSON
import Platform
import Support
import Testing
import Tokens

@Suite("The threads of the key cache", .timeLimit(.minutes(15)))
struct KeyThreadTests {
    private let provider = FakeProvider()

    /// A verifier that runs on the machine's clocks.
    private func running(_ change: (inout IssuerKeysConfiguration) -> Void = { _ in }) throws -> BearerVerifier {
        var rules = TestClaims.rules
        rules.longestLifetime = 4_000_000_000
        var configuration = IssuerKeysConfiguration(sources: [policy()], rules: rules)
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

    private func refusal(_ verifier: BearerVerifier, _ token: String) async -> TokenRefusal? {
        do throws(TokenRefusal) {
            _ = try await verifier.judge(token)
            return nil
        } catch { return error }
    }

    /// Waits until the first flight is over: a request behind it does not join it.
    private func waitForKeys(_ verifier: BearerVerifier) async {
        while verifier.status.counters.flights == 0, !Task.isCancelled { await Task.yield() }
    }

    /// Waits until a fetch hangs in the provider.
    private func waitForHang() async {
        while !provider.isRunning, !Task.isCancelled { await Task.yield() }
    }

    @Test("Keys are fetched by themselves, and one at a time whatever happens (V-70, V-77)")
    func singleFlight() async throws {
        let verifier = try running()
        defer { verifier.stop() }
        await waitForKeys(verifier)
        await withTaskGroup(of: Void.self) { group in
            for task in 0..<4 {
                group.addTask {
                    for request in 0..<500 {
                        if request % 50 == 0 { verifier.refreshNow() }
                        _ = await self.refusal(verifier, self.token(kid: "\(task)-\(request % 3)"))
                    }
                }
            }
        }
        #expect(provider.mostRunning == 1)
        // The start, two permits, one forced refresh; metadata and keys each.
        #expect(provider.asked.count <= 8)
    }

    @Test("A hanging provider does not delay tokens of known keys, and others not beyond the deadline (V-78, V-81)")
    func hanging() async throws {
        let verifier = try running { $0.timing.patience = .milliseconds(200) }
        defer { verifier.stop() }
        await waitForKeys(verifier)
        provider.isHeld = true
        let start = ContinuousClock.now
        async let unknown = refusal(verifier, token(kid: "new"))
        await waitForHang()
        for number in 0..<100 {
            let claims = TestClaims.good.with("exp", .integer(4_000_000_000)).with("name", .string("\(number)"))
            #expect(await refusal(verifier, makeToken(claims: claims)) == nil)
        }
        #expect(await unknown == .keysUnavailable(retryAfter: 1))
        let elapsed = start.duration(to: .now)
        // A delay of each known key by what the unknown one waits would be 20 seconds.
        #expect(elapsed >= .milliseconds(200) && elapsed < .seconds(15))
    }

    @Test("Stopping during a fetch resumes everybody and ends within a second (V-91)")
    func stopping() async throws {
        let verifier = try running { $0.timing.patience = .seconds(60) }
        await waitForKeys(verifier)
        provider.isHeld = true
        async let unknown = refusal(verifier, token(kid: "new"))
        await waitForHang()
        let start = ContinuousClock.now
        verifier.stop()
        #expect(start.duration(to: .now) < .seconds(1))
        #expect(await unknown == .keysUnavailable(retryAfter: 1))
        // Known keys still judge; unknown ones do not wait for anybody.
        #expect(await refusal(verifier, token()) == nil)
        #expect(await refusal(verifier, token(kid: "other")) == .keysUnavailable(retryAfter: 1))
        verifier.stop()
    }

    @Test("Keys change under load without a wrong answer (V-41)")
    func rotationUnderLoad() async throws {
        let verifier = try running()
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
                        #expect(await self.refusal(verifier, good) == nil)
                        await Task.yield()
                    }
                }
            }
            provider.publish(policy(), [published(SigningKey.shared), published(SigningKey.other, kid: "key-2")])
            #expect(await refusal(verifier, next) == nil)
            isDone.set()
        }
    }
}
