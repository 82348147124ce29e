@testable import IssuerKeys
import JSON
import Support
import Testing
import Tokens

@Suite("Recorded rotations of real providers are followed", .timeLimit(.minutes(15)))
struct RecordedRotationTests {
    @Test(
        "Keys come and go as they were published, and no load fails",
        arguments: ["Apple", "Entra ID, common", "Google", "Spotify"])
    func rotation(name: String) async throws {
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

    @Test("A key that is distrusted never serves, however often it is withdrawn and published again (V-97)")
    func distrusted() throws {
        let identifier = "8PXQDb4mOmolu_BtG3jDX4qR2xU"
        // The week before 2024-10-27.
        var replay = try Replay("Entra ID, common", from: 1_729_382_400, distrusted: [identifier])
        var times = 0
        while replay.publishNext() {
            #expect(!replay.serving.contains(identifier) && !replay.serving.isEmpty)
            times += (replay.loaded?.identifiers.contains(identifier) ?? false) ? 1 : 0
        }
        #expect(times > 10)
    }

    @Test("A key that is marked as one of another cloud serves only while it is not marked (P-8)")
    func otherCloud() throws {
        let identifier = "8PXQDb4mOmolu_BtG3jDX4qR2xU"
        var replay = try Replay("Entra ID, common", from: 1_729_382_400, refresh: .seconds(300))
        var counts = [false: 0, true: 0]
        func look() {
            guard let key = replay.loaded?.keys.first(where: { $0["kid"].string == identifier }) else { return }
            let isMarked = key["cloud_instance_name"].string == "microsoftonline.us"
            counts[isMarked, default: 0] += 1
            #expect(replay.serving.contains(identifier) == !isMarked)
        }
        // The last version of 2024-10-20; they were marked twice on that day. The next version came a day later.
        while replay.published.time < 1_729_401_555, replay.publishNext() { look() }
        replay.advance(to: replay.published.time + 600)
        look()
        #expect(counts[true, default: 0] > 0 && counts[false, default: 0] > 0)
    }
}

/// In October 2024 `common` alternated for days between two versions of its set, as if two servers answered in turn.
@Suite("Key sets that alternate between two versions", .timeLimit(.minutes(15)))
struct AlternatingKeySetTests {
    /// Keys that each version lacked at times: 24 and 13 times they were published again.
    private let identifiers = ["8PXQDb4mOmolu_BtG3jDX4qR2xU", "Mc7l3Iz93g7uwgNeEmmw_WYGPko"]

    @Test("A token of a key that is published at that moment is never refused, and the provider is asked seldom")
    func recorded() async throws {
        let start = 1_729_486_800 as Int64  // 2024-10-21 05:00 UTC
        let steps = 42 * 12  // of five minutes
        var replay = try Replay("Entra ID, common", from: start)
        replay.refresh()
        replay.bench.provider.forget()
        var changes = 0
        for step in 0..<steps {
            changes += replay.advance(to: start + Int64(step) * 300)
            for identifier in identifiers {
                let refusal = await replay.refusal(of: identifier)
                let isPublished = replay.published.identifiers.contains(identifier)
                #expect(refusal == .badSignature || !isPublished && refusal == .unknownKey)
            }
        }
        #expect(changes > 40 && replay.status.counters.failures == 0)
        // One fetch for each unknown key, and two for each refresh that is due anyway (V-79, V-82).
        let fetches = replay.bench.provider.asked.count
        #expect(fetches < steps * 2, "\(fetches) fetches")
    }

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
        #expect((1...30).contains(longest), "\(longest) s")
        #expect(replay.bench.provider.asked.count <= 2 + seconds / 30)
    }
}
