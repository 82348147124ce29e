import Basics

/// The reason why keys refuse a token, if newer keys may accept it.
enum RefreshReason: Equatable {
    /// No key has the name that the token gives (V-81).
    case unknownKey
    /// The key of that name did not sign the token, or is for another algorithm: it may have been replaced (V-98).
    case badSignature
    /// The token's policy has these documents, and until they are loaded it looks like a wrong policy or issuer.
    case unloadedPolicy(documents: [Int])
}

/// The knowledge and decisions of one token source's key cache (`docs/internals/how-it-works.md`).
///
/// The state has no clock, thread or network: times are nanoseconds of the monotonic clock, and `chance` is a random
/// number from 0 to 1.
struct KeyCacheState: Sendable {
    /// The fetches for one metadata document.
    struct FetchPlan: Sendable, Equatable {
        /// The index of the document.
        let document: Int
        /// Whether to fetch the metadata too, or the key set only (V-82).
        let withMetadata: Bool
    }

    /// The end of the fetches for one metadata document.
    enum Outcome: Sendable {
        /// The keys were loaded; `fetchedAt` is in milliseconds since 1970, `maxAge` in seconds.
        case loaded(LoadedKeys, fetchedAt: Int64, maxAge: Int?)
        /// The provider may ask to be left alone for `retryAfter` seconds.
        case failed(reason: String, retryAfter: Int? = nil)
    }

    /// The decision on a token that the keys refuse.
    enum Decision: Equatable {
        /// The token waits for the refresh that runs or is about to begin, and is checked again. When the token came,
        /// `since` refreshes of all documents had begun.
        case wait(since: Int)
        /// The refusal is final.
        case refuse
        /// Nobody knows whether newer keys accept the token; the client may try again after that many seconds.
        case unavailable(retryAfter: Int)
    }

    private enum Phase {
        case notStarted, running, stopped
    }

    let timing: KeyTiming
    private(set) var documents: [DocumentState]
    private(set) var counters = KeyCounters()
    private var phase = Phase.notStarted
    /// The time at which the running refresh began.
    private var refreshBegan: Int64?
    /// Whether the running refresh fetches all documents that the provider lets fetch: a key may be in any of them.
    private var isWhole = false
    /// The number of such refreshes that have ended.
    private var wholeRefreshes = 0
    /// Permits for refreshes that unknown keys demand (V-79).
    private var bucket: TokenBucket
    /// Whether a token demanded a refresh that has not begun.
    private var isDemanded = false
    private var isForced = false
    private var forcedAt: Int64?
    /// The time at which a bad signature last demanded a refresh.
    private var badSignatureAt: Int64?
    private var reportedState = KeyState.empty
    /// Whether unknown keys were refused without a refresh since the last refresh ended.
    private(set) var isLimited = false

    init(count: Int, timing: KeyTiming, now: Int64) {
        self.timing = timing
        documents = Array(repeating: DocumentState(now: now), count: count)
        bucket = TokenBucket(capacity: timing.burst, refill: timing.refill.nanoseconds, now: now)
    }

    // MARK: Events

    /// Lets requests wait for refreshes, which run from now on.
    mutating func start() {
        phase = .running
    }

    mutating func stop() {
        phase = .stopped
    }

    /// Takes keys of this metadata document from the key file (V-88).
    mutating func restore(_ keys: LoadedKeys, document: Int, fetchedAt: Int64, loadedAt: Int64) {
        documents[document].restore(keys, fetchedAt: fetchedAt, loadedAt: loadedAt)
    }

    /// Decides on a token that the keys refuse for a reason that newer keys may change, while `waiting` others wait.
    ///
    /// For a token that has just come, `earlier` is nil. For a token that has waited, it is the number that
    /// ``Decision/wait(since:)`` gave.
    mutating func decide(on reason: RefreshReason, since earlier: Int?, now: Int64, waiting: Int) -> Decision {
        if earlier == nil, reason == .unknownKey { counters.unknownKeys += 1 }
        let begun = earlier ?? wholeRefreshesBegun
        // A refresh that began before the token came may have fetched the documents before its key was published. A
        // refresh that was due may have fetched only documents without the key.
        let isAsked = wholeRefreshes > begun
        if !isAsked, phase == .running, waiting < timing.mostWaiters / (reason == .badSignature ? 2 : 1) {
            if !isRefreshPending { isDemanded = allowsRefresh(for: reason, now: now) }
            if isRefreshPending { return .wait(since: begun) }
        }
        // Where a refresh has answered, another that is pending changes nothing.
        guard isAsked || !isRefreshPending, isFinal(reason, now: now) else {
            return .unavailable(retryAfter: retryAfter(now: now))
        }
        if !isAsked, reason == .unknownKey { isLimited = true }
        return .refuse
    }

    /// Returns whether a refused token may cause a refresh now, which counts for the limits (V-79, V-98, V-99).
    private mutating func allowsRefresh(for reason: RefreshReason, now: Int64) -> Bool {
        // The provider may have asked to be left alone for all documents.
        guard documents.contains(where: { $0.heldUntil <= now }) else { return false }
        switch reason {
        case .unknownKey: return bucket.take(now: now)
        case .badSignature:
            if let badSignatureAt, now - badSignatureAt < timing.badSignatureInterval.nanoseconds { return false }
            badSignatureAt = now
            return true
        case .unloadedPolicy: return false
        }
    }

    /// Returns whether no document is known to lack newer keys, by which the token could be good.
    private func isFinal(_ reason: RefreshReason, now: Int64) -> Bool {
        guard !isStopped else { return false }
        return switch reason {
        // A key that a failed fetch did not bring may exist all the same (V-118).
        case .unknownKey: !isDegraded
        case .badSignature: true
        case .unloadedPolicy(let documents):
            documents.allSatisfy { serves(document: $0, now: now) && self.documents[$0].problem == nil }
        }
    }

    /// Makes all documents due, because an operator wants fresh keys now (V-90); returns false if the operator asked
    /// a moment ago.
    mutating func force(now: Int64) -> Bool {
        if let forcedAt, now - forcedAt < timing.forcedInterval.nanoseconds { return false }
        forcedAt = now
        isForced = true
        return true
    }

    /// Begins one refresh, unless one runs (V-77), and returns its fetches; ``endRefresh(now:)`` ends the refresh.
    mutating func beginRefresh(now: Int64) -> [FetchPlan] {
        guard !isRefreshing, !isStopped else { return [] }
        let plans = documents.indices.compactMap { index -> FetchPlan? in
            let isDue = isForced || documents[index].nextAttempt <= now
            guard isDue || isDemanded && documents[index].heldUntil <= now else { return nil }
            return FetchPlan(document: index, withMetadata: isDue || !serves(document: index, now: now))
        }
        isForced = false
        isDemanded = false
        if !plans.isEmpty {
            refreshBegan = now
            let fetched = plans.map(\.document)
            isWhole = documents.indices.allSatisfy { fetched.contains($0) || documents[$0].heldUntil > now }
        }
        return plans
    }

    /// Takes the outcome of one plan of the refresh.
    mutating func finish(_ plan: FetchPlan, _ outcome: Outcome, now: Int64, chance: Double) {
        switch outcome {
        case .loaded(let keys, let fetchedAt, let maxAge):
            counters.loads += 1
            documents[plan.document].loaded(keys, fetchedAt: fetchedAt, now: now)
            guard plan.withMetadata else { return }
            documents[plan.document].refreshed(now: now, maxAge: maxAge, chance: chance, timing: timing)
        case .failed(let reason, let retryAfter):
            counters.failures += 1
            let longest = state(now: now).serves ? timing.longestBackoff : timing.longestBackoffWithoutKeys
            documents[plan.document].failed(reason, now: now, longestBackoff: longest, chance: chance)
            let hold = min(.seconds(retryAfter ?? 0), timing.longestHold)
            documents[plan.document].hold(until: now + hold.nanoseconds)
        }
    }

    mutating func endRefresh(now: Int64) {
        counters.refreshes += 1
        counters.refreshNanoseconds += now - (refreshBegan ?? now)
        refreshBegan = nil
        if isWhole { wholeRefreshes += 1 }
        isWhole = false
        isLimited = false
    }

    // MARK: Reports

    /// Returns the change of the state since the last call, if there is one.
    mutating func takeStateChange(of source: String?, now: Int64) -> KeyEvent? {
        let state = state(now: now)
        guard state != reportedState else { return nil }
        defer { reportedState = state }
        return .stateChanged(source: source, from: reportedState, to: state)
    }
}

// The state at one time.
extension KeyCacheState {
    var isStopped: Bool { phase == .stopped }

    private var isRefreshing: Bool { refreshBegan != nil }

    /// The number of refreshes of all documents that have begun, of which one may run.
    var wholeRefreshesBegun: Int { wholeRefreshes + (isWhole ? 1 : 0) }

    /// Whether a refresh runs or is about to begin.
    var isRefreshPending: Bool { isRefreshing || isDemanded }

    /// Whether the last attempt at any metadata document failed.
    var isDegraded: Bool { documents.contains { $0.problem != nil } }

    func serves(document: Int, now: Int64) -> Bool {
        documents[document].serves(now: now, timing: timing)
    }

    func state(now: Int64) -> KeyState {
        let serving = documents.filter { $0.serves(now: now, timing: timing) }
        guard serving.isEmpty else { return serving.allSatisfy { now < $0.staleAt } ? .fresh : .stale }
        return documents.allSatisfy { $0.loadedAt == nil } ? .empty : .expired
    }

    /// Returns the keys that serve, in the order of the metadata documents; nil for a document that does not serve.
    func servingKeys(now: Int64) -> [LoadedKeys?] {
        documents.map { $0.serves(now: now, timing: timing) ? $0.keys : nil }
    }

    /// Returns the time at which the first of the serving documents becomes too old; nil if none serves.
    func servesUntil(now: Int64) -> Int64? {
        oldestLoad(now: now).map { $0 + timing.trust.nanoseconds }
    }

    private func oldestLoad(now: Int64) -> Int64? {
        documents.filter { $0.serves(now: now, timing: timing) }.compactMap(\.loadedAt).min()
    }

    /// Returns the time of the next check whether something is due, unless an event comes before.
    func nextLook(now: Int64) -> Int64 {
        let attempt = documents.map(\.nextAttempt).min() ?? Int64.max
        return min(attempt, servesUntil(now: now) ?? attempt)
    }

    /// Returns the seconds after which a client may try again: 1 to 30 (V-71).
    func retryAfter(now: Int64) -> Int {
        guard !isRefreshPending, !isStopped else { return 1 }
        let pause = (documents.map(\.nextAttempt).min() ?? now) - now
        return Int(min(30, max(1, (pause + 999_999_999) / 1_000_000_000)))
    }

    func status(now: Int64, keyIdentifiers: [String], lastFailure: String?, waiters: Int) -> KeyStatus {
        KeyStatus(
            state: state(now: now), isDegraded: isDegraded,
            ageSeconds: oldestLoad(now: now).map { Int((now - $0) / 1_000_000_000) },
            keyIdentifiers: keyIdentifiers, lastFailure: lastFailure, waiters: waiters, counters: counters)
    }
}

/// The state of one metadata document: its keys, and its times on the monotonic clock in nanoseconds.
struct DocumentState: Sendable {
    /// The keys of the last load that succeeded; ``serves(now:timing:)`` says whether they may still be used.
    private(set) var keys: LoadedKeys?
    /// The time of the load, by the monotonic clock; the age of the keys counts from then on.
    private(set) var loadedAt: Int64?
    /// The time of the fetch, in milliseconds since 1970; the key file keeps this time over a restart.
    private(set) var fetchedAt: Int64 = 0
    /// The time at which the keys become stale.
    private(set) var staleAt: Int64
    /// The time at which the next attempt is due.
    private(set) var nextAttempt: Int64
    /// The time until which the provider has asked to be left alone (V-99).
    private(set) var heldUntil = Int64.min
    /// The attempts that failed since metadata and keys were last loaded.
    private var failures = 0
    /// The reason why the last attempt of any kind failed; nil if the attempt succeeded.
    private(set) var problem: String?

    /// Creates the state of an unknown document, which is due at once.
    init(now: Int64) {
        staleAt = now
        nextAttempt = now
    }

    /// Takes keys from the key file, which are stale and as old as the file says (V-88).
    mutating func restore(_ keys: LoadedKeys, fetchedAt: Int64, loadedAt: Int64) {
        self.keys = keys
        self.fetchedAt = fetchedAt
        self.loadedAt = loadedAt
    }

    func serves(now: Int64, timing: KeyTiming) -> Bool {
        loadedAt.map { now < $0 + timing.trust.nanoseconds } ?? false
    }

    /// Puts off the next refresh, because metadata and keys were loaded.
    ///
    /// The refresh is due after the usual time, or after `maxAge` seconds if shorter (V-89), less up to a tenth (V-87).
    mutating func refreshed(now: Int64, maxAge: Int?, chance: Double, timing: KeyTiming) {
        var pause = timing.refresh.nanoseconds
        if let maxAge {
            pause = min(pause, max(Int64(maxAge) * 1_000_000_000, timing.shortestRefresh.nanoseconds))
        }
        staleAt = now + pause - Int64(Double(pause) * 0.1 * chance)
        nextAttempt = staleAt
        failures = 0
    }

    /// Takes keys that were loaded with the metadata or alone; keys alone do not put off the next load of metadata.
    mutating func loaded(_ keys: LoadedKeys, fetchedAt: Int64, now: Int64) {
        self.keys = keys
        self.fetchedAt = fetchedAt
        loadedAt = now
        problem = nil
        heldUntil = Int64.min
    }

    /// Notes a failed attempt, which changes only the time of the next attempt (V-80).
    ///
    /// The next attempt is due after 1, 2, 4 and so on seconds, give or take a fifth, or after the longest backoff.
    mutating func failed(_ reason: String, now: Int64, longestBackoff: Duration, chance: Double) {
        failures += 1
        problem = reason
        let pause = min(Int64(1) << min(failures - 1, 20) * 1_000_000_000, longestBackoff.nanoseconds)
        let varied = Int64(Double(pause) * (0.8 + 0.4 * chance))
        nextAttempt = now + min(varied, longestBackoff.nanoseconds)
    }

    /// Makes no attempt before this time, except for an operator.
    mutating func hold(until end: Int64) {
        heldUntil = end
        nextAttempt = max(nextAttempt, end)
    }
}
