import Testing

@testable import IssuerKeys

/// Nanoseconds.
private func s(_ seconds: Double) -> Int64 { Int64(seconds * 1e9) }

@Suite("The key cache decides by events and times alone")
struct KeyCacheStateTests {
    /// A state whose one source was loaded at time 0.
    private func loaded(count: Int = 1, chance: Double = 0, maxAge: Int? = nil) -> KeyCacheState {
        var state = KeyCacheState(count: count, timing: KeyTiming(), now: 0)
        for errand in state.takeOff(now: 0) { state.finish(errand, .loaded(maxAge: maxAge), now: 0, chance: chance) }
        state.land()
        return state
    }

    private func flight(_ state: inout KeyCacheState, _ outcome: KeyCacheState.Outcome, at now: Int64) -> Bool {
        let errands = state.takeOff(now: now)
        for errand in errands { state.finish(errand, outcome, now: now, chance: 0.5) }
        state.land()
        return !errands.isEmpty
    }

    @Test("It begins EMPTY and at once (V-70), then is FRESH, STALE, EXPIRED by age")
    func ages() {
        var state = KeyCacheState(count: 1, timing: KeyTiming(), now: 0)
        #expect(state.state(now: 0) == .empty && state.nextLook(now: 0) == 0)
        #expect(flight(&state, .loaded(maxAge: nil), at: 0))
        let soft = s(3600 * 0.95)
        #expect(state.state(now: soft - 1) == .fresh && state.nextLook(now: 1) == soft)
        #expect(state.state(now: soft) == .stale && state.state(now: s(86400) - 1) == .stale)
        #expect(state.state(now: s(86400)) == .expired)
    }

    @Test("The soft refresh varies by up to a tenth, downwards (V-87)")
    func jitter() {
        #expect(loaded(chance: 0).sources[0].nextAttempt == s(3600))
        #expect(loaded(chance: 1).sources[0].nextAttempt == s(3240))
    }

    @Test("max-age shortens the refresh to no less than 300 s, and lengthens nothing (V-89)")
    func maxAge() {
        #expect(loaded(maxAge: 900).sources[0].nextAttempt == s(900))
        #expect(loaded(maxAge: 0).sources[0].nextAttempt == s(300))
        #expect(loaded(maxAge: 1_000_000).sources[0].nextAttempt == s(3600))
        #expect(loaded(maxAge: 1_000_000).state(now: s(86400)) == .expired)
    }

    @Test("While EMPTY the pauses are 1, 2, 4, 4 ... seconds (V-72)")
    func emptyBackoff() {
        var state = KeyCacheState(count: 1, timing: KeyTiming(), now: 0)
        var now: Int64 = 0
        var pauses: [Int64] = []
        for _ in 0..<6 {
            #expect(flight(&state, .failed, at: now))
            pauses.append(state.nextLook(now: now) - now)
            now = state.nextLook(now: now)
        }
        #expect(pauses == [1, 2, 4, 4, 4, 4].map(s))
        #expect(state.state(now: now) == .empty && state.isDegraded)
    }

    @Test("While keys serve the pauses grow to 60 s, never early, and the keys serve to the hard limit (V-80, V-83)")
    func servingBackoff() {
        var state = loaded()
        var now = s(3600)
        var pauses: [Int64] = []
        while now < s(86000) {
            #expect(flight(&state, .failed, at: now))
            #expect(state.serves(source: 0, now: now) && state.isDegraded && state.state(now: now) == .stale)
            pauses.append(state.sources[0].nextAttempt - now)
            #expect(state.takeOff(now: state.sources[0].nextAttempt - 1).isEmpty)
            now = state.sources[0].nextAttempt
        }
        #expect(pauses.prefix(8) == [1, 2, 4, 8, 16, 32, 60, 60].map(s)[...])
        #expect(pauses.count > 1000)
        #expect(state.state(now: s(86400)) == .expired && !state.serves(source: 0, now: s(86400)))
    }

    @Test("A failure's pause varies by a fifth and never passes the longest")
    func backoffJitter() {
        for (chance, pause) in [(0.0, 0.8), (1.0, 1.2)] {
            var state = KeyCacheState(count: 1, timing: KeyTiming(), now: 0)
            for errand in state.takeOff(now: 0) { state.finish(errand, .failed, now: 0, chance: chance) }
            #expect(state.sources[0].nextAttempt == s(pause))
        }
        var source = SourceState(now: 0)
        for _ in 0..<100 { source.failed(now: 0, longestBackoff: .seconds(60), chance: 1) }
        #expect(source.nextAttempt == s(60))
    }

    @Test("Two unknown keys may fetch at once, then one every 30 s, whatever the outcome (V-79)")
    func bucket() {
        for outcome in [KeyCacheState.Outcome.loaded(maxAge: nil), .failed] {
            var state = loaded()
            for _ in 0..<2 {
                #expect(state.unknownKey(now: s(10), waiting: 0) == .wait)
                #expect(flight(&state, outcome, at: s(10)))
            }
            #expect(state.unknownKey(now: s(10), waiting: 0) != .wait)
            #expect(state.unknownKey(now: s(39.9), waiting: 0) != .wait)
            #expect(state.unknownKey(now: s(40), waiting: 0) == .wait)
        }
    }

    @Test("A storm of unknown keys for a minute costs at most four fetches")
    func storm() {
        var state = loaded()
        var fetches = 0
        for request in 0..<600_000 {
            let now = s(100) + Int64(request) * s(0.0001)
            _ = state.unknownKey(now: now, waiting: 0)
            if flight(&state, .loaded(maxAge: nil), at: now) { fetches += 1 }
        }
        #expect(fetches >= 3 && fetches <= 4)
    }

    @Test("An unknown key is refused when the provider was asked lately, and nobody knows while it fails (V-118)")
    func refusal() {
        var state = loaded()
        for _ in 0..<2 {
            _ = state.unknownKey(now: s(1), waiting: 0)
            #expect(flight(&state, .loaded(maxAge: nil), at: s(1)))
        }
        #expect(state.unknownKey(now: s(1), waiting: 0) == .refuse)
        var failing = loaded()
        for _ in 0..<2 {
            _ = failing.unknownKey(now: s(1), waiting: 0)
            #expect(flight(&failing, .failed, at: s(1)))
        }
        #expect(failing.unknownKey(now: s(1), waiting: 0) == .unavailable(retryAfter: 2))
    }

    @Test("Unknown keys share the flight in the air, up to 64 of them (V-77, V-81)")
    func sharing() {
        var state = loaded()
        #expect(state.unknownKey(now: 1, waiting: 0) == .wait)
        #expect(state.takeOff(now: 1).count == 1)
        #expect(state.takeOff(now: 1).isEmpty)
        for waiting in 1..<64 { #expect(state.unknownKey(now: 1, waiting: waiting) == .wait) }
        #expect(state.unknownKey(now: 1, waiting: 64) == .unavailable(retryAfter: 1))
    }

    @Test("An unknown key fetches keys only, and does not put off the refresh of the metadata (V-82)")
    func keysOnly() {
        var state = loaded()
        _ = state.unknownKey(now: s(3000), waiting: 0)
        #expect(state.takeOff(now: s(3000)) == [.init(source: 0, withMetadata: false)])
        state.finish(.init(source: 0, withMetadata: false), .loaded(maxAge: nil), now: s(3000), chance: 0)
        state.land()
        #expect(state.takeOff(now: s(3600)) == [.init(source: 0, withMetadata: true)])
        // The keys' age counts from the later load.
        #expect(state.serves(source: 0, now: s(86400)) && !state.serves(source: 0, now: s(89400)))
    }

    @Test("A forced refresh fetches all, draws no permit, and is granted every 5 s (V-90)")
    func force() {
        var state = loaded(count: 2)
        #expect(state.force(now: s(1)) == true)
        #expect(state.takeOff(now: s(1)).map(\.withMetadata) == [true, true])
        #expect(state.force(now: s(5.9)) == false)
        state.land()
        #expect(state.takeOff(now: s(5.9)).isEmpty)
        #expect(state.force(now: s(6)) == true)
        #expect(state.unknownKey(now: s(6), waiting: 0) == .wait)
    }

    @Test("A source that fails does not stop the others, nor hurry them")
    func twoSources() {
        var state = KeyCacheState(count: 2, timing: KeyTiming(), now: 0)
        let errands = state.takeOff(now: 0)
        state.finish(errands[0], .loaded(maxAge: nil), now: 0, chance: 0)
        state.finish(errands[1], .failed, now: 0, chance: 0.5)
        state.land()
        #expect(state.state(now: 1) == .fresh && state.isDegraded)
        #expect(state.takeOff(now: s(1)) == [.init(source: 1, withMetadata: true)])
    }

    @Test("Stopped, it begins nothing (V-91)")
    func stopped() {
        var state = loaded()
        state.stop()
        #expect(state.unknownKey(now: 1, waiting: 0) == .unavailable(retryAfter: 1))
        #expect(state.force(now: 1) == true)
        #expect(state.takeOff(now: s(100_000)).isEmpty)
    }

    @Test("What a file remembers is stale and due at once, and its age counts on (V-88)")
    func restored() {
        var state = KeyCacheState(count: 1, timing: KeyTiming(), now: s(5))
        state.restore(source: 0, loadedAt: s(5 - 80_000))
        #expect(state.state(now: s(5)) == .stale && state.nextLook(now: s(5)) == s(5))
        #expect(state.state(now: s(6405)) == .expired)
    }

    @Test("Retry-After is between 1 and 30 s")
    func retryAfter() {
        var state = loaded()
        #expect(state.retryAfter(now: 0) == 30)
        #expect(state.retryAfter(now: s(3600) - 1) == 1 && state.retryAfter(now: s(9999)) == 1)
        _ = state.takeOff(now: s(3600))
        #expect(state.retryAfter(now: s(3600)) == 1)
    }
}
