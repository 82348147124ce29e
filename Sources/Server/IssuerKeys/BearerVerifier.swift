package import Basics
import Curl
package import Platform
import Synchronization
package import Tokens

/// Verifies bearer tokens by the rules and keys of their token source, and caches the verified tokens.
///
/// Until the first keys are loaded, every token of the right form gets ``TokenRefusal/keysUnavailable(retryAfter:)``
/// (V-71).
package final class BearerVerifier: TokenVerifier {
    let time: any TimeSource
    /// The caches of the token sources, in the order of the settings; no two concern the same token.
    let caches: [KeyCache]
    /// The rules of the same sources.
    let rules: [ClaimRules]
    private let tokens: TokenCache
    private let distrusted: DistrustedKeys
    /// The times of the checks of signature and claims, with any result and without waits for keys; cache hits do not count
    /// (V-165).
    package let verificationTimes = DurationHistogram()

    /// Creates a verifier that has no keys yet.
    ///
    /// ``stop()`` cancels the fetcher. The closure `chance` makes random numbers from 0 to 1, for the jitter of
    /// timers. The observer receives events on any thread, and must return quickly.
    package init(
        _ configuration: IssuerKeysConfiguration, time: any TimeSource = SystemTime(),
        fetcher: any DocumentFetcher = HTTPFetcher(),
        chance: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) },
        observer: @escaping @Sendable (KeyEvent) -> Void = { _ in }
    ) {
        self.time = time
        let indices = configuration.sources.indices
        let distrusted = DistrustedKeys(configuration.distrustedKeys)
        self.distrusted = distrusted
        let environment = KeyCache.Environment(
            configuration: configuration, distrusted: distrusted, time: time, fetcher: fetcher, chance: chance,
            observer: observer,
            registry: SourceRegistry(configuration), file: configuration.keyCacheFile.map { KeyFile(path: $0) })
        caches = indices.map { KeyCache($0, environment) }
        rules = indices.map(configuration.rules(ofSource:))
        tokens = TokenCache(mostEntries: configuration.tokenCacheEntries, mostBytes: configuration.tokenCacheBytes)
    }

    /// The time after which a cached token is verified again, in nanoseconds.
    private static let verifyAgainAfter: Int64 = 600 * 1_000_000_000

    /// Finds a token that equals, byte for byte, one that passed every check (V-101); see ``TokenVerifier/cached(_:)``.
    package func cached(_ token: ArraySlice<UInt8>) -> Principal? {
        let now = time.now
        let seconds = time.wallSeconds
        let found = tokens.find(token) { entry in
            entry.verified.isUsable(at: seconds) && now < entry.verifyAgainAt
                && caches[entry.source].isCurrent(entry.generation, now: now)
        }
        return found?.principal
    }

    /// See ``TokenVerifier/verification(of:)``; a token whose key is known is verified on the caller's thread (V-78).
    package func verification(of token: String) throws(TokenRefusal) -> Verification {
        let token = try read(token)
        let snapshot = caches[token.source].current(now: time.now)
        guard snapshot.entries.isEmpty || snapshot.knows(token.header.keyIdentifier) else {
            return .waiting { [self] () async throws(TokenRefusal) in try await verifyUnknownKey(token) }
        }
        return try verification(of: token, by: snapshot)
    }

    /// Checks a token by these keys; if a refresh may change the refusal, the rest waits for the refresh.
    private func verification(
        of token: PresentedToken, by snapshot: KeySnapshot
    ) throws(TokenRefusal) -> Verification {
        do throws(TokenRefusal) {
            return .verified(try check(token, by: snapshot))
        } catch {
            guard let policy = policyToRefresh(before: error, of: token) else { throw refusal(error, of: token) }
            return .waiting { [self] () async throws(TokenRefusal) in
                try await reconsider(error, of: token, policy, checkedBy: snapshot)
            }
        }
    }

    /// Reads the form and the header of a token, and finds its source; with several sources it reads the claims, too.
    private func read(_ text: String) throws(TokenRefusal) -> PresentedToken {
        let compact = try CompactToken(text)
        let header = try JOSEHeader(of: compact)
        let claims = caches.count > 1 ? try Claims(of: compact) : nil
        let source = if let claims { try source(of: claims) } else { 0 }
        if isClosed(source) { throw .sourceClosed }
        guard caches[source].source.algorithms.contains(header.algorithm) else { throw .wrongAlgorithm }
        return PresentedToken(compact: compact, header: header, claims: claims, source: source)
    }

    /// Searches for the key of a token for a limited time (V-81), and verifies the token.
    private func verifyUnknownKey(_ token: PresentedToken) async throws(TokenRefusal) -> Principal {
        let cache = caches[token.source]
        let retryAfter = await cache.searchUnknownKey()
        let snapshot = cache.current(now: time.now)
        if let retryAfter, !snapshot.knows(token.header.keyIdentifier) {
            throw refusal(.keysUnavailable(retryAfter: retryAfter), of: token)
        }
        return try await verification(of: token, by: snapshot).principal()
    }

    /// Returns the policy whose keys must be up to date before this refusal of a token is final; nil if it is final.
    ///
    /// The keys of each document are published at once, so that one that cannot be reached does not delay the others.
    /// Until the next is loaded, a good token of its policy looks like one of a wrong policy. Such a token waits for the
    /// refresh, or is answered "try again"; it is never called invalid.
    private func policyToRefresh(before refusal: TokenRefusal, of token: PresentedToken) -> String? {
        guard refusal == .wrongPolicy || refusal == .wrongIssuer else { return nil }
        // The signature was verified before, so this is what the issuer says.
        return (try? Claims(of: token.compact))?.policy
    }

    /// Checks a token again if the keys of the policy that it names were not up to date when it was refused.
    private func reconsider(
        _ first: TokenRefusal, of token: PresentedToken, _ policy: String, checkedBy snapshot: KeySnapshot
    ) async throws(TokenRefusal) -> Principal {
        let cache = caches[token.source]
        let isAuthoritative = await cache.isUpToDate(policy: policy)
        let newer = cache.current(now: time.now)
        if isAuthoritative, newer.generation == snapshot.generation { throw refusal(first, of: token) }
        do throws(TokenRefusal) {
            return try check(token, by: newer)
        } catch {
            throw refusal(isAuthoritative ? error : .keysUnavailable(retryAfter: cache.retryAfter), of: token)
        }
    }

    /// Checks signature and claims, and caches a good token.
    private func check(_ token: PresentedToken, by snapshot: KeySnapshot) throws(TokenRefusal) -> Principal {
        let start = time.now
        switch snapshot.finding(token.compact, token.header) {
        case .good(let issuers):
            defer { countVerification(since: start) }
            let now = time.wallSeconds
            let claims = if let claims = token.claims { claims } else { try Claims(of: token.compact) }
            let verified = try rules[token.source].check(claims, of: issuers, now: now)
            tokens.insert(
                token.compact.bytes,
                .init(
                    verified: verified, source: token.source, generation: snapshot.generation,
                    verifyAgainAt: start + Self.verifyAgainAfter))
            return verified.principal
        case .bad:
            countVerification(since: start)
            throw .badSignature
        case .unknownKey: throw .unknownKey
        case .otherAlgorithm: throw .wrongAlgorithm
        case .keysUnavailable: throw .keysUnavailable(retryAfter: caches[token.source].retryAfter)
        }
    }

    private func countVerification(since start: Int64) {
        verificationTimes.add(UInt64(clamping: time.now - start))
    }

    // MARK: Start and stop

    /// Reads the key file, starts the threads and begins to fetch; returns at once.
    package func start() throws(SystemError) {
        // Every source reads the file first, so that none writes the file before another has read it.
        readFile()
        for cache in caches { try cache.start() }
    }

    /// Takes the keys of the key file on this thread, and fetches nothing.
    package func readFile() {
        for cache in caches { cache.readFile() }
    }

    /// Ends fetches and waits, and joins the threads, within a second (V-91).
    package func stop() {
        for cache in caches { cache.stop() }
    }

    /// Fetches all keys anew for an operator, at most once in five seconds (V-90); returns whether it will.
    @discardableResult
    package func refreshNow() -> Bool {
        caches.map { $0.refreshNow() }.contains(true)
    }

    /// Takes the trust from these keys at once (V-97); a key that is trusted again serves from the next fetch on.
    package func distrust(_ identifiers: [String]) {
        distrusted.identifiers.withLock { $0 = identifiers }
        for cache in caches { cache.publish(now: time.now) }
    }

    // MARK: Status

    /// The token sources, in the order of the settings.
    package var statuses: [TokenSourceStatus] {
        let now = time.wallSeconds
        return caches.map { cache in
            TokenSourceStatus(
                name: cache.source.name, keys: cache.status,
                issuers: cache.current(now: time.now).issuerIdentifiers,
                isClosed: cache.source.isClosed(at: now))
        }
    }

    package var tokenCacheStatus: TokenCacheStatus { tokens.status }

    // MARK: Explaining tokens

    /// Reads the key file and fetches once, on this thread, for programs that explain a token and end.
    package func loadOnce() {
        readFile()
        for cache in caches { _ = cache.refreshIfDue() }
    }

    /// Explains a token by the keys that are loaded, without fetching or caching anything.
    package func explain(_ token: String) -> TokenExplanation {
        let (source, refusal) = choice(for: token)
        let snapshot = source.map { caches[$0].current(now: time.now) }
        return TokenExplanation(
            of: token, rules: source.map { rules[$0] }, sourceRefusal: refusal,
            issuers: snapshot?.entries.flatMap(\.issuers) ?? [], now: time.wallSeconds
        ) { compact, header in
            guard let source, let snapshot else { return .keysUnavailable }
            guard caches[source].source.algorithms.contains(header.algorithm) else { return .otherAlgorithm }
            return snapshot.finding(compact, header)
        }
    }
}

/// A token whose form and header are good, and the index of its source.
struct PresentedToken: Sendable {
    let compact: CompactToken
    let header: JOSEHeader
    /// The claims, if they were read to find the source.
    let claims: Claims?
    let source: Int
}
