import JSON
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

    @Test func `A token of a policy that is being loaded waits only while there is a place`() async {
        let bench = Bench.loaded()
        await withTaskGroup(of: TokenRefusal?.self) { group in
            for _ in 0..<64 { group.addTask { await bench.refusal(unknown) } }
            await eventually("64 requests wait") { bench.verifier.status.waiters == 64 }
            #expect(await !bench.verifier.keys.isUpToDate(policy: TestClaims.policy))
            bench.refresh()
        }
    }
}
