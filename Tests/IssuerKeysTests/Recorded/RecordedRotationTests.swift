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
        var replay = try Replay(name, refresh: .seconds(6 * 3600))
        var known: Set<String> = []
        for version in replay.history.versions {
            replay.advance(to: version.time)
            if let loaded = replay.loaded {
                #expect(replay.serving == loaded.usable.sorted())
                #expect(replay.status.state == .fresh)
            }
            replay.publish(version)
            known.formUnion(version.identifiers)
        }
        let end = replay.published.time + 86_400
        replay.advance(to: end)
        let last = replay.published.usable
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
        var replay = try Replay("Entra ID, common", distrusted: [identifier])
        var times = 0
        for version in replay.history.versions.suffix(90) {
            replay.advance(to: version.time)
            #expect(!replay.serving.contains(identifier))
            times += (replay.loaded?.identifiers.contains(identifier) ?? false) ? 1 : 0
            replay.publish(version)
        }
        #expect(times > 10)
    }
}

/// In October 2024 `common` alternated for days between two versions of its set, as if two servers answered in turn.
@Suite("Key sets that alternate between two versions", .timeLimit(.minutes(15)))
struct AlternatingKeySetTests {
    /// Keys that each version lacked at times: 24 and 13 times they were published again.
    private let identifiers = ["8PXQDb4mOmolu_BtG3jDX4qR2xU", "Mc7l3Iz93g7uwgNeEmmw_WYGPko"]

    @Test("A token of a key that is published at that moment is never refused, and the provider is asked seldom")
    func recorded() async throws {
        var replay = try Replay("Entra ID, common")
        let first = 1_729_486_800 as Int64  // 2024-10-21 05:00 UTC
        let steps = 42 * 12  // of five minutes
        var versions = replay.history.versions.drop { version in
            let isBefore = version.time <= first
            if isBefore { replay.publish(version) }
            return isBefore
        }
        replay.bench.time.setWall(by: first - replay.bench.time.wallMilliseconds / 1000)
        replay.refresh()
        replay.bench.provider.forget()
        var changes = 0
        for step in 0..<steps {
            let time = first + Int64(step) * 300
            replay.advance(to: time)
            while let next = versions.first, next.time <= time {
                replay.publish(next)
                versions.removeFirst()
                changes += 1
            }
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
