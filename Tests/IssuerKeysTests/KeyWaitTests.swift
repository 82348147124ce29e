import JSON
import Platform
import Support
import Testing
import Tokens

@testable import IssuerKeys

@Suite("Who waits for keys, and for how long (V-81)")
struct KeyWaitTests {
    private let unknown = makeToken(header: TestClaims.header.with("kid", "new"))

    @Test func `Nobody who gave up counts among those who wait`() async {
        let bench = Bench([policy()]) { $0.timing.patience = .milliseconds(1) }.loaded()
        for _ in 0..<3 { #expect(await bench.refusal(unknown) == .keysUnavailable(retryAfter: 1)) }
        #expect(bench.verifier.status.waiters == 0)
    }

    @Test func `A refresh that has ended is not waited for, nor is one after the stop`() async {
        let bench = Bench.loaded()
        #expect(await bench.verifier.keys.refreshEnds())
        bench.verifier.stop()
        #expect(await !bench.verifier.keys.refreshEnds())
    }

    @Test(arguments: [true, false])
    func `A key that is published after the running refresh has fetched its document is fetched by another`(
        isNewName: Bool
    ) async throws {
        let (first, second) = (policy(), policy("B2C_1_reset"))
        let bench = Bench.loaded([first, second])
        bench.time.advance(seconds: 3600)
        bench.provider.hold(second.metadataURL)
        let refresh = try NamedThread.start("refresh") { bench.refresh() }
        await eventually("the first document is fetched") { bench.provider.asked.contains(second.metadataURL) }
        let kid = isNewName ? "new" : TestClaims.keyIdentifier
        bench.provider.publish(first, [published(SigningKey.other, kid: kid)])
        let token = makeToken(
            claims: TestClaims.good.with("exp", .integer(TestClaims.now + 4000)),
            header: TestClaims.header.with("kid", .string(kid)), key: SigningKey.other)
        async let refusal = bench.refusal(token)
        await eventually("the token waits") { bench.verifier.status.waiters == 1 }
        bench.provider.hold(nil)
        refresh.join()
        await eventually("the token waits for another refresh") { bench.verifier.status.waiters == 1 }
        bench.refresh()
        #expect(await refusal == nil)
    }

    @Test func `A token of a policy that is being loaded waits only while there is a place`() async {
        let bench = Bench.loaded()
        await withTaskGroup(of: TokenRefusal?.self) { group in
            for _ in 0..<64 { group.addTask { await bench.refusal(unknown) } }
            await eventually("64 requests wait") { bench.verifier.status.waiters == 64 }
            let ofOtherIssuer = makeToken(claims: TestClaims.good.with("iss", "https://login.example/"))
            #expect(await bench.refusal(ofOtherIssuer) == .keysUnavailable(retryAfter: 1))
            bench.refresh()
        }
    }
}
