import Curl
package import Platform
import Synchronization
package import Tokens

/// Verifies bearer tokens by the rules and keys of their token source, and caches the verified ones.
///
/// Usable before ``start()`` and before the first keys are loaded: until then every token of the right form gets
/// ``TokenRefusal/keysUnavailable(retryAfter:)`` (V-71).
package final class BearerVerifier: TokenVerifier {
    let time: any TimeSource
    /// One for each token source, in the order of the settings; no two have anything to say about one token.
    let caches: [KeyCache]
    /// Of the same sources.
    let rules: [ClaimRules]
    private let tokens: TokenCache
    private let verifications = Atomic<Int>(0)
    private let verificationNanoseconds = Atomic<Int64>(0)

    /// A verifier that has no keys yet.
    ///
    /// - Parameters:
    ///   - configuration: sources with their rules, bounds.
    ///   - time: the clocks.
    ///   - fetcher: fetches metadata and keys; cancelled by ``stop()``.
    ///   - chance: a random number from 0 to 1, for the jitter of timers.
    ///   - observer: gets what happens to the keys; called on any thread, and must return quickly.
    package init(
        _ configuration: IssuerKeysConfiguration, time: any TimeSource = SystemTime(),
        fetcher: any DocumentFetcher = HTTPFetcher(),
        chance: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) },
        observer: @escaping @Sendable (KeyEvent) -> Void = { _ in }
    ) {
        self.time = time
        let indices = configuration.sources.indices
        let registry = SourceRegistry(configuration)
        let environment = KeyCache.Environment(
            configuration: configuration, time: time, fetcher: fetcher, chance: chance, observer: observer,
            registry: registry,
            file: configuration.keyCacheFile.map { KeyFileShare($0, sources: indices.count) })
        caches = indices.map { KeyCache($0, environment) }
        rules = indices.map(configuration.rules(ofSource:))
        tokens = TokenCache(mostEntries: configuration.tokenCacheEntries, mostBytes: configuration.tokenCacheBytes)
        for (index, cache) in caches.enumerated() {
            registry.onRetry(ofSource: index) { [weak cache] in cache?.retry() }
        }
    }

    /// After how long a cached token is verified anew, in nanoseconds.
    private static let longestMemory: Int64 = 600 * 1_000_000_000

    /// See ``TokenVerifier/cached(_:)``: byte for byte a token that passed every check (V-101).
    package func cached(_ token: ArraySlice<UInt8>) -> Principal? {
        guard !tokens.isOff else { return nil }
        let now = time.now
        let seconds = time.wallMilliseconds / 1000
        let found = tokens.find(token) { entry in
            entry.verified.isUsable(at: seconds) && now < entry.verifyAgainAt
                && caches[entry.source].isCurrent(entry.generation, now: now)
        }
        return found?.principal
    }

    /// See ``TokenVerifier/verify(_:)``; waits only for an unknown key, and then for a limited time (V-81).
    package func verify(_ token: String) async throws(TokenRefusal) -> Principal {
        let now = time.now
        let (verified, generation, source) = try await verified(token)
        guard !tokens.isOff else { return verified.principal }
        tokens.insert(
            Array(token.utf8),
            .init(
                verified: verified, source: source, generation: generation, verifyAgainAt: now + Self.longestMemory))
        return verified.principal
    }

    private typealias Verdict = (token: VerifiedToken, generation: UInt64, source: Int)

    /// Every check, in the order of the rules: form, header, source, key, signature, claims.
    private func verified(_ token: String) async throws(TokenRefusal) -> Verdict {
        let compact = try CompactToken(token)
        let header = try JOSEHeader(of: compact)
        guard caches.count > 1 else {
            try checkOpen(0)
            return try await verified(compact, header, nil, by: 0)
        }
        let claims = try Claims(of: compact)
        let source = try source(of: claims)
        try checkOpen(source)
        do throws(TokenRefusal) {
            return try await verified(compact, header, claims, by: source)
        } catch {
            throw refusal(error, of: compact, header, by: source)
        }
    }

    /// The checks by the keys and rules of one source; with its claims, if they were read already to find it.
    private func verified(
        _ compact: CompactToken, _ header: JOSEHeader, _ claims: Claims?, by source: Int
    ) async throws(TokenRefusal) -> Verdict {
        let cache = caches[source]
        let snapshot = try await snapshot(knowing: header.keyIdentifier, of: cache)
        do throws(TokenRefusal) {
            return try check(compact, header, claims, by: snapshot, source)
        } catch {
            let isAuthoritative = await isAuthoritative(error, of: compact, by: cache)
            let newer = cache.current(now: time.now)
            if isAuthoritative, newer.generation == snapshot.generation { throw error }
            do throws(TokenRefusal) {
                return try check(compact, header, claims, by: newer, source)
            } catch {
                guard isAuthoritative else { throw .keysUnavailable(retryAfter: cache.retryAfter) }
                throw error
            }
        }
    }

    /// Checks signature and claims.
    private func check(
        _ compact: CompactToken, _ header: JOSEHeader, _ claims: Claims?, by snapshot: KeySnapshot, _ source: Int
    ) throws(TokenRefusal) -> Verdict {
        let start = time.now
        switch snapshot.finding(compact, header) {
        case .good(let issuers):
            defer { countVerification(since: start) }
            let now = time.wallMilliseconds / 1000
            let verified =
                if let claims {
                    try rules[source].check(claims, signedBy: header.keyIdentifier, of: issuers, now: now)
                } else {
                    try rules[source].check(compact, signedBy: header.keyIdentifier, of: issuers, now: now)
                }
            return (verified, snapshot.generation, source)
        case .bad:
            countVerification(since: start)
            throw .badSignature
        case .unknownKey: throw .unknownKey
        case .keysUnavailable: throw .keysUnavailable(retryAfter: caches[source].retryAfter)
        }
    }

    private func countVerification(since start: Int64) {
        verifications.add(1, ordering: .relaxed)
        verificationNanoseconds.add(time.now - start, ordering: .relaxed)
    }

    /// The snapshot to verify with: the current one, or, if it does not have the key, the one after a search (V-81).
    private func snapshot(knowing keyIdentifier: String, of cache: KeyCache) async throws(TokenRefusal) -> KeySnapshot {
        let snapshot = cache.current(now: time.now)
        guard !snapshot.entries.isEmpty, snapshot.entries(for: keyIdentifier).isEmpty else { return snapshot }
        let result = await cache.searchUnknownKey()
        let newer = cache.current(now: time.now)
        switch result {
        case .complete: return newer
        case .inconclusive(let seconds):
            guard !newer.entries(for: keyIdentifier).isEmpty else { throw .keysUnavailable(retryAfter: seconds) }
            return newer
        }
    }

    // MARK: Start and stop

    /// Reads the key file, starts the threads, begins to fetch; returns at once.
    ///
    /// - Throws: the system's refusal to start a thread.
    package func start() throws(NamedThread.Failure) {
        // First all, so that no source writes the file before another has read it.
        readFile()
        for cache in caches { try cache.start() }
    }

    /// Takes the keys that the key file has, on this thread, and fetches nothing.
    package func readFile() {
        for cache in cachesInOrder { cache.readFile() }
    }

    /// Sources that share the owners of another come after it: their issuers are compared with its issuers (P-15).
    private var cachesInOrder: [KeyCache] {
        caches.filter { !$0.source.sharesOwners } + caches.filter(\.source.sharesOwners)
    }

    /// Ends fetches that run and all waits, and joins the threads; within a second (V-91).
    package func stop() {
        for cache in caches { cache.stop() }
    }

    /// Fetches all keys anew, for an operator (V-90); granted at most once in five seconds.
    ///
    /// - Returns: whether it was granted.
    @discardableResult
    package func refreshNow() -> Bool {
        caches.map { $0.refreshNow() }.contains(true)
    }

    // MARK: Status

    /// The token sources, in the order of the settings.
    package var statuses: [TokenSourceStatus] {
        let now = time.wallMilliseconds / 1000
        return caches.map { cache in
            TokenSourceStatus(
                name: cache.source.name, keys: cache.status,
                issuers: cache.current(now: time.now).issuers.map(\.identifier).withoutDuplicates,
                isClosed: cache.source.isClosed(at: now))
        }
    }

    package var tokenCacheStatus: TokenCacheStatus { tokens.status }

    package var verificationStatus: VerificationStatus {
        VerificationStatus(
            verifications: verifications.load(ordering: .relaxed),
            nanoseconds: verificationNanoseconds.load(ordering: .relaxed))
    }

    // MARK: Explaining tokens

    /// Reads the key file and fetches once, on this thread: for programs that explain a token and end.
    package func loadOnce() {
        readFile()
        for cache in cachesInOrder { _ = cache.refreshIfDue() }
    }

    /// Explains a token by the keys that are loaded; fetches nothing, caches nothing.
    ///
    /// - Parameter token: the text, without scheme and surrounding white space.
    /// - Returns: every check with its result. It quotes claims: not for a log.
    package func explain(_ token: String) -> TokenExplanation {
        let (source, refusal) = choice(for: token)
        let snapshot = source.map { caches[$0].current(now: time.now) }
        return TokenExplanation(
            of: token, rules: source.map { rules[$0] }, sourceRefusal: refusal,
            issuers: snapshot?.entries.flatMap(\.issuers) ?? [], now: time.wallMilliseconds / 1000
        ) { compact, header in
            snapshot?.finding(compact, header) ?? .keysUnavailable
        }
    }
}

/// The verifications since the start, for `/metrics` (V-165).
package struct VerificationStatus: Sendable, Equatable {
    /// Tokens whose signature and claims were checked, whatever came of it; hits of the token cache are not among them.
    package var verifications = 0
    /// What that took together, without waits for keys.
    package var nanoseconds: Int64 = 0
}
