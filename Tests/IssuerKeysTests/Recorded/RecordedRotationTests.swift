@testable import IssuerKeys
import Support
import Testing
import Tokens

@Suite("Recorded rotations of real providers are followed")
struct RecordedRotationTests {
    @Test(arguments: ["Apple", "Entra ID, common", "Google", "Spotify"])
    func `Keys come and go as they were published, and no load fails`(name: String) async throws {
        var replay = try Replay(name, refresh: .seconds(20 * 3600))
        var known = Set(replay.published.identifiers)
        while replay.publishNext() {
            let loaded = try #require(replay.loaded)
            #expect(replay.serving == loaded.usable.sorted() && replay.status.state == .fresh)
            known.formUnion(replay.published.identifiers)
        }
        let last = replay.published.usable
        replay.advance(to: replay.published.time + 86_400)
        #expect(replay.serving == last.sorted() && known.count > last.count)
        #expect(replay.status.counters.failures == 0)
        for identifier in known.sorted() {
            replay.bench.time.advance(seconds: 60)
            let refusal = await replay.refusal(of: identifier)
            #expect(refusal == (last.contains(identifier) ? .badSignature : .unknownKey))
        }
    }
}

/// In October 2024 `common` alternated for days between two versions of its set, as if two servers answered in turn.
@Suite("Key sets that alternate between two versions")
struct AlternatingKeySetTests {
    /// Keys that each version lacked at times: 24 and 13 times they were published again.
    private let identifiers = ["8PXQDb4mOmolu_BtG3jDX4qR2xU", "Mc7l3Iz93g7uwgNeEmmw_WYGPko"]

    @Test("If each answer is the other version, no key is missing for longer than until the next refresh (V-79)")
    func everyAnswer() async throws {
        var replay = try Replay("Entra ID, common")
        let sets = identifiers.map { lacking in
            replay.history.versions.last { version in
                identifiers.allSatisfy { version.identifiers.contains($0) == ($0 != lacking) }
            }
        }
        let pair = try sets.map { try #require($0) }
        replay.publish(pair[0])
        replay.refresh()
        replay.bench.provider.forget()
        var refused = [0, 0]
        var longest = 0
        let seconds = 120
        for _ in 0..<seconds {
            replay.bench.time.advance(seconds: 1)
            for (index, identifier) in identifiers.enumerated() {
                let fetches = replay.bench.provider.asked.count
                replay.publish(pair[fetches % 2 == 0 ? 1 : 0])
                let refusal = await replay.refusal(of: identifier)
                refused[index] = refusal == .badSignature ? 0 : refused[index] + 1
                longest = max(longest, refused[index])
            }
        }
        // No test can sign for the provider, so each token of a known key also asks, once a minute (V-98).
        #expect((1...60).contains(longest), "\(longest) s")
        #expect(replay.bench.provider.asked.count <= 2 + seconds / 30 + seconds / 60)
    }
}
