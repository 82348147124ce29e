import Testing
import Tokens

@testable import IssuerKeys

/// Nanoseconds.
private func s(_ seconds: Double) -> Int64 { Int64(seconds * 1e9) }

/// The keys themselves decide nothing here.
private let keys = LoadedKeys(
    metadata: ProviderMetadata(issuer: "", keySetURL: ""), keys: [], skipped: [])

private func loaded(maxAge: Int? = nil) -> KeyCacheState.Outcome {
    .loaded(keys, fetchedAt: 0, maxAge: maxAge)
}

private let failed = KeyCacheState.Outcome.failed(reason: "")

extension KeyCacheState {
    /// The decision on a token that has just come.
    mutating func decide(on reason: RefreshReason, now: Int64, waiting: Int = 0) -> Decision {
        decide(on: reason, since: nil, now: now, waiting: waiting)
    }

    /// Whether a token that has just come waits.
    mutating func waits(for reason: RefreshReason, now: Int64, waiting: Int = 0) -> Bool {
        if case .wait = decide(on: reason, now: now, waiting: waiting) { true } else { false }
    }
}

@Suite("The state of the key cache follows from events and times alone")
struct KeyCacheStateTests {
    /// A running state whose metadata documents were loaded at time 0.
    private func running(count: Int = 1, chance: Double = 0, maxAge: Int? = nil) -> KeyCacheState {
        var state = KeyCacheState(count: count, timing: KeyTiming(), now: 0)
        state.start()
        for plan in state.beginRefresh(now: 0) { state.finish(plan, loaded(maxAge: maxAge), now: 0, chance: chance) }
        state.endRefresh(now: 0)
        return state
    }

    /// A refresh, if one is due; whether it was.
    private func refresh(_ state: inout KeyCacheState, _ outcome: KeyCacheState.Outcome, at now: Int64) -> Bool {
        let plans = state.beginRefresh(now: now)
        for plan in plans { state.finish(plan, outcome, now: now, chance: 0.5) }
        state.endRefresh(now: now)
        return !plans.isEmpty
    }

    @Test func `Keys are EMPTY and due at once, then FRESH, STALE and EXPIRED by age (V-70)`() {
        var state = KeyCacheState(count: 1, timing: KeyTiming(), now: 0)
        #expect(state.state(now: 0) == .empty && state.nextLook(now: 0) == 0)
        #expect(refresh(&state, loaded(), at: 0))
        let soft = s(3600 * 0.95)
        #expect(state.state(now: soft - 1) == .fresh && state.nextLook(now: 1) == soft)
        #expect(state.state(now: soft) == .stale && state.state(now: s(86400) - 1) == .stale)
        #expect(state.state(now: s(86400)) == .expired)
    }

    @Test func `The refresh comes up to a tenth earlier (V-87)`() {
        #expect(running(chance: 0).documents[0].nextAttempt == s(3600))
        #expect(running(chance: 1).documents[0].nextAttempt == s(3240))
    }

    @Test func `The max-age of a document shortens the refresh to no less than 300 s, and lengthens nothing (V-89)`() {
        #expect(running(maxAge: 900).documents[0].nextAttempt == s(900))
        #expect(running(maxAge: 0).documents[0].nextAttempt == s(300))
        #expect(running(maxAge: 1_000_000).documents[0].nextAttempt == s(3600))
        #expect(running(maxAge: 1_000_000).state(now: s(86400)) == .expired)
    }

    @Test func `While EMPTY, the pauses are 1, 2, 4, 4 ... seconds (V-72)`() {
        var state = KeyCacheState(count: 1, timing: KeyTiming(), now: 0)
        var now: Int64 = 0
        var pauses: [Int64] = []
        for _ in 0..<6 {
            #expect(refresh(&state, failed, at: now))
            pauses.append(state.nextLook(now: now) - now)
            now = state.nextLook(now: now)
        }
        #expect(pauses == [1, 2, 4, 4, 4, 4].map(s))
        #expect(state.state(now: now) == .empty && state.isDegraded)
        // A success ends the series.
        #expect(refresh(&state, loaded(), at: now))
        let next = state.documents[0].nextAttempt
        #expect(refresh(&state, failed, at: next) && state.documents[0].nextAttempt == next + s(1))
    }

    @Test func `A load that succeeds ends what a failed one began: unknown keys are refused again (V-118)`() {
        var state = running()
        #expect(refresh(&state, failed, at: s(3600)) && state.isDegraded)
        #expect(refresh(&state, loaded(), at: s(3700)) && !state.isDegraded)
        for _ in 0..<KeyTiming().burst {
            #expect(state.waits(for: .unknownKey, now: s(3700)) == true)
            #expect(refresh(&state, loaded(), at: s(3700)))
        }
        #expect(state.decide(on: .unknownKey, now: s(3700)) == .refuse)
    }

    @Test func `While keys serve, the pauses grow to 60 s, and the keys serve until they are too old (V-80, V-83)`() {
        var state = running()
        var now = s(3600)
        var pauses: [Int64] = []
        while now < s(86000) {
            #expect(refresh(&state, failed, at: now))
            #expect(state.serves(document: 0, now: now) && state.isDegraded && state.state(now: now) == .stale)
            pauses.append(state.documents[0].nextAttempt - now)
            #expect(state.beginRefresh(now: state.documents[0].nextAttempt - 1).isEmpty)
            now = state.documents[0].nextAttempt
        }
        #expect(pauses.prefix(8) == [1, 2, 4, 8, 16, 32, 60, 60].map(s)[...])
        #expect(pauses.count > 1000)
        // The next attempt is later than the end of the keys.
        #expect(refresh(&state, failed, at: s(86390)) && state.nextLook(now: s(86390)) == s(86400))
        #expect(state.state(now: s(86400)) == .expired && !state.serves(document: 0, now: s(86400)))
    }

    @Test func `The pause after a failure varies by a fifth and is never longer than the longest`() {
        for (chance, pause) in [(0.0, 0.8), (1.0, 1.2)] {
            var state = KeyCacheState(count: 1, timing: KeyTiming(), now: 0)
            for plan in state.beginRefresh(now: 0) { state.finish(plan, failed, now: 0, chance: chance) }
            #expect(state.documents[0].nextAttempt == s(pause))
        }
        var source = DocumentState(now: 0)
        for _ in 0..<100 { source.failed("", now: 0, longestBackoff: .seconds(60), chance: 1) }
        #expect(source.nextAttempt == s(60))
    }

    @Test func `Unknown keys may demand two refreshes at once, then one every 30 s, whatever the outcome (V-79)`() {
        for outcome in [loaded(), failed] {
            var state = running()
            for _ in 0..<2 {
                #expect(state.waits(for: .unknownKey, now: s(10)) == true)
                #expect(refresh(&state, outcome, at: s(10)))
            }
            #expect(state.waits(for: .unknownKey, now: s(10)) == false)
            #expect(state.waits(for: .unknownKey, now: s(39.9)) == false)
            #expect(state.waits(for: .unknownKey, now: s(40)) == true)
        }
    }

    @Test
    func `An unknown key is refused if the provider was asked recently, but not while the provider fails (V-118)`() {
        var state = running()
        for _ in 0..<2 {
            _ = state.decide(on: .unknownKey, now: s(1))
            #expect(refresh(&state, loaded(), at: s(1)))
        }
        for time in [s(1), s(2)] {
            #expect(state.decide(on: .unknownKey, now: time) == .refuse)
            // The limit is reported once until the next refresh.
            #expect(state.isLimited)
            #expect(state.force(now: s(10) + time * 10) && refresh(&state, loaded(), at: time))
            #expect(!state.isLimited)
        }
        var failing = running()
        for _ in 0..<2 {
            _ = failing.decide(on: .unknownKey, now: s(1))
            #expect(refresh(&failing, failed, at: s(1)))
        }
        #expect(failing.decide(on: .unknownKey, now: s(1)) == .unavailable(retryAfter: 2))
    }

    @Test func `A key that no refresh since its token came has brought is refused, also while another is pending`() {
        var state = running()
        #expect(state.decide(on: .unknownKey, now: s(10)) == .wait(since: 1))
        #expect(refresh(&state, loaded(), at: s(10)))
        #expect(state.decide(on: .unknownKey, now: s(11)) == .wait(since: 2))
        #expect(state.decide(on: .unknownKey, since: 1, now: s(11), waiting: 1) == .refuse)
        #expect(state.decide(on: .unknownKey, since: 2, now: s(11), waiting: 1) == .wait(since: 2))
    }

    @Test func `Only a refresh of all documents answers a token, whose key may be in any of them (V-81)`() {
        // The first and the third document are due one after the other, and the second much later.
        var state = KeyCacheState(count: 3, timing: KeyTiming(), now: 0)
        state.start()
        for (plan, age) in zip(state.beginRefresh(now: 0), [300, 900, 301]) {
            state.finish(plan, loaded(maxAge: age), now: 0, chance: 0)
        }
        state.endRefresh(now: 0)
        for (time, document) in [(s(300), 0), (s(301), 2)] {
            #expect(state.beginRefresh(now: time) == [.init(document: document, withMetadata: true)])
            let earlier = document == 0 ? nil : 1
            #expect(state.decide(on: .unknownKey, since: earlier, now: time, waiting: 0) == .wait(since: 1))
            state.finish(.init(document: document, withMetadata: true), loaded(), now: time, chance: 0)
            state.endRefresh(now: time)
        }
        #expect(state.decide(on: .unknownKey, since: 1, now: s(302), waiting: 0) == .wait(since: 1))
        #expect(state.beginRefresh(now: s(302)).map(\.document) == [0, 1, 2])
        state.endRefresh(now: s(302))
        #expect(state.decide(on: .unknownKey, since: 1, now: s(303), waiting: 0) == .refuse)
    }

    @Test func `An unknown key fetches keys only, and does not delay the refresh of the metadata (V-82)`() {
        var state = running()
        _ = state.decide(on: .unknownKey, now: s(3000))
        #expect(state.beginRefresh(now: s(3000)) == [.init(document: 0, withMetadata: false)])
        state.finish(.init(document: 0, withMetadata: false), loaded(), now: s(3000), chance: 0)
        state.endRefresh(now: s(3000))
        #expect(state.beginRefresh(now: s(3600)) == [.init(document: 0, withMetadata: true)])
        // The keys' age counts from the later load.
        #expect(state.serves(document: 0, now: s(86400)) && !state.serves(document: 0, now: s(89400)))
    }

    @Test func `A forced refresh fetches all, needs no permit, and is granted every 5 s (V-90)`() {
        var state = running(count: 2)
        #expect(state.force(now: s(1)) == true)
        #expect(state.beginRefresh(now: s(1)).map(\.withMetadata) == [true, true])
        #expect(state.force(now: s(5.9)) == false)
        state.endRefresh(now: s(5.9))
        #expect(state.beginRefresh(now: s(5.9)).isEmpty)
        #expect(state.force(now: s(6)) == true)
        #expect(state.waits(for: .unknownKey, now: s(6)) == true)
    }

    @Test func `A metadata document that fails neither stops nor hurries the others`() {
        var state = KeyCacheState(count: 2, timing: KeyTiming(), now: 0)
        state.start()
        let plans = state.beginRefresh(now: 0)
        state.finish(plans[0], loaded(), now: 0, chance: 0)
        state.finish(plans[1], failed, now: 0, chance: 0.5)
        state.endRefresh(now: 0)
        #expect(state.state(now: 1) == .fresh && state.isDegraded)
        // An unknown key may be of the one without keys, whose metadata is not known.
        #expect(state.waits(for: .unknownKey, now: s(0.5)) == true)
        #expect(state.beginRefresh(now: s(0.5)).map(\.withMetadata) == [false, true])
        state.endRefresh(now: s(0.5))
        #expect(state.beginRefresh(now: s(1)) == [.init(document: 1, withMetadata: true)])
    }

    @Test func `A provider that asks for a pause is left alone for it, to 5 minutes at most (V-99)`() {
        for (seconds, end) in [(30, 3630.0), (9999, 3900)] {
            var state = running()
            #expect(refresh(&state, .failed(reason: "", retryAfter: seconds), at: s(3600)))
            #expect(state.documents[0].nextAttempt == s(end) && state.nextLook(now: s(3600)) == s(end))
            for reason in [RefreshReason.unknownKey, .badSignature] {
                #expect(state.waits(for: reason, now: s(3601)) == false)
            }
            #expect(state.beginRefresh(now: s(end) - 1).isEmpty)
            #expect(state.force(now: s(3602)) && refresh(&state, loaded(), at: s(3602)))
        }
    }

    @Test func `After the stop, no refresh begins (V-91)`() {
        var state = running()
        state.stop()
        #expect(state.decide(on: .unknownKey, now: 1) == .unavailable(retryAfter: 1))
        #expect(state.force(now: 1) == true)
        #expect(state.beginRefresh(now: s(100_000)).isEmpty)
    }

    @Test func `Retry-After is between 1 and 30 s (V-71)`() {
        var state = running()
        #expect(state.retryAfter(now: 0) == 30)
        #expect(state.retryAfter(now: s(3600) - 1) == 1 && state.retryAfter(now: s(9999)) == 1)
        _ = state.beginRefresh(now: s(3600))
        #expect(state.retryAfter(now: s(3600)) == 1)
    }
}
