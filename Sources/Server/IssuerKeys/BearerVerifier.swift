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
    /// The caches of the token sources, in the order of the settings; a token is of one source.
    let caches: [KeyCache]
    /// The rules of the same sources.
    let rules: [ClaimRules]
    private let tokens: TokenCache
    private let distrusted: DistrustedKeys
    /// The times of all checks of signature and claims, without cache hits and waits for keys (V-165).
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

    /// Finds a token that equals, byte for byte, one that passed every check (V-101); see
    /// ``TokenVerifier/cachedPrincipal(of:)``.
    package func cachedPrincipal(of token: ArraySlice<UInt8>) -> Principal? {
        let now = time.now
        let seconds = time.wallSeconds
        let found = tokens.find(token) { entry in
            entry.verified.isUsable(at: seconds) && now < entry.verifyAgainAt
                && caches[entry.source].isCurrent(entry.generation, now: now)
        }
        return found?.principal
    }

    /// See ``TokenVerifier/beginVerifying(_:)``; a token whose key is known is verified on the caller's thread (V-78).
    package func beginVerifying(_ token: String) throws(TokenRefusal) -> Verification {
        let token = try read(token)
        let snapshot = caches[token.source].current(now: time.now)
        do throws(TokenRefusal) {
            return .verified(try check(token, by: snapshot))
        } catch {
            let begun = try demandKeys(after: error, of: token, by: snapshot)
            return .waiting { [self] () async throws(TokenRefusal) in
                try await verifyAfterRefresh(token, since: begun)
            }
        }
    }

    /// Demands newer keys for a token that this snapshot refused, or throws the refusal that is final.
    ///
    /// Returns the argument of ``KeyCacheState/Decision/wait(since:)``.
    private func demandKeys(
        after refusal: TokenRefusal, of token: PresentedToken, by snapshot: KeySnapshot, since begun: Int? = nil
    ) throws(TokenRefusal) -> Int {
        guard let reason = refreshReason(after: refusal, of: token) else { throw self.refusal(refusal, of: token) }
        switch caches[token.source].decide(on: reason, by: snapshot, since: begun) {
        case .wait(let begun): return begun
        case .refuse: throw self.refusal(refusal, of: token)
        case .unavailable(let seconds): throw .keysUnavailable(retryAfter: seconds)
        }
    }

    /// Checks a token after each refresh for which it waits, until it is good or its refusal is final (V-81).
    private func verifyAfterRefresh(_ token: PresentedToken, since begun: Int) async throws(TokenRefusal) -> Principal {
        let cache = caches[token.source]
        while true {
            // If the refresh takes too long, or the server stops, the keys of the token may have come all the same.
            let hasEnded = await cache.refreshEnds()
            let snapshot = cache.current(now: time.now)
            do throws(TokenRefusal) {
                return try check(token, by: snapshot)
            } catch {
                if !hasEnded, refreshReason(after: error, of: token) != nil { throw .keysUnavailable(retryAfter: 1) }
                _ = try demandKeys(after: error, of: token, by: snapshot, since: begun)
            }
        }
    }

    /// Returns the reason why newer keys may accept a token after this refusal; nil if no keys can.
    ///
    /// The keys of each document are published at once, so that a document that cannot be reached does not delay the
    /// others. Until a document is loaded, a good token of its policy looks like a token of a wrong policy.
    private func refreshReason(after first: TokenRefusal, of token: PresentedToken) -> RefreshReason? {
        switch first {
        case .unknownKey: return .unknownKey
        // The other sources' keys may turn the refusal into another one, which is final (P-21).
        case .badSignature, .wrongAlgorithm: return refusal(first, of: token) == first ? .badSignature : nil
        case .wrongPolicy, .wrongIssuer:
            // The signature was verified before, so the issuer itself names this policy.
            guard let policy = (try? Claims(of: token.compact))?.policy else { return nil }
            let all = caches[token.source].source.documents
            let documents = all.indices.filter { all[$0].isOf(policy) }
            return documents.isEmpty ? nil : .unloadedPolicy(documents: documents)
        default: return nil
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

    /// Checks signature and claims, and caches a good token.
    private func check(_ token: PresentedToken, by snapshot: KeySnapshot) throws(TokenRefusal) -> Principal {
        let start = time.now
        switch snapshot.finding(token.compact, token.header) {
        case .good(let issuers):
            defer { countTime(since: start) }
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
            countTime(since: start)
            throw .badSignature
        case .unknownKey: throw .unknownKey
        case .otherAlgorithm: throw .wrongAlgorithm
        case .keysUnavailable: throw .keysUnavailable(retryAfter: caches[token.source].retryAfter)
        }
    }

    private func countTime(since start: Int64) {
        verificationTimes.add(UInt64(clamping: time.now - start))
    }

    /// The sum of the sources' generations of keys, in which the end of a source counts, too (V-110).
    package var generation: UInt64 {
        let now = time.now
        return caches.indices.reduce(0) { $0 + caches[$1].current(now: now).generation + (isClosed($1) ? 1 : 0) }
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

    /// Fetches all keys anew for an operator, at most once in five seconds (V-90); returns whether it will fetch.
    @discardableResult
    package func refreshNow() -> Bool {
        caches.map { $0.refreshNow() }.contains(true)
    }

    /// Withdraws the trust from these keys at once (V-97); a key that is trusted again serves from the next fetch on.
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

    /// Explains a token by the keys that are loaded: its verdict is the verifier's, which fetches nothing for it.
    package func explain(_ token: String) -> TokenExplanation {
        let source = choice(for: token).source
        let snapshot = source.map { caches[$0].current(now: time.now) }
        let algorithms = source.map { caches[$0].source.algorithms.map(\.rawValue) } ?? []
        let keys = snapshot?.entries.map(\.key.published.keyIdentifier).withoutDuplicates ?? []
        return TokenExplanation(
            of: token, verdict(on: token), header: [(["alg"], algorithms), (["kid"], keys)],
            claims: source.map { rules[$0].accepted(from: snapshot?.issuers ?? []) } ?? [])
    }

    private func verdict(on text: String) -> Result<Principal, TokenRefusal> {
        do throws(TokenRefusal) {
            let token = try read(text)
            let snapshot = caches[token.source].current(now: time.now)
            return .success(
                try rethrowing(as: { refusal($0, of: token) }) { () throws(TokenRefusal) in
                    try check(token, by: snapshot)
                })
        } catch {
            return .failure(error)
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

// The choice of a token's source (P-10, P-13, P-21, P-31).
//
// If there are several sources, the issuer that the token claims chooses one, before anything of the token is verified.
// Then everything, also the issuer, is checked by the rules and keys of that source. The choice costs only a
// comparison: no invented issuer causes a fetch.
extension BearerVerifier {
    /// Returns the source of a token by its claims, of which nothing is verified yet.
    ///
    /// If no source has the issuer, some documents may not be loaded yet; then the client may try again.
    func source(of claims: Claims) throws(TokenRefusal) -> Int {
        guard let issuer = claims.issuer else { throw .wrongIssuer }
        let now = time.now
        if let index = caches.firstIndex(where: { $0.current(now: now).issues(issuer) }) { return index }
        let policy = claims.policy
        let second = time.wallSeconds
        let undecided = caches.first { !$0.source.isClosed(at: second) && $0.hasUnknownIssuer(forPolicy: policy) }
        guard let undecided else { throw .wrongIssuer }
        throw .keysUnavailable(retryAfter: undecided.retryAfter)
    }

    /// Returns whether the time of a source is over, so that its tokens are refused (P-31).
    func isClosed(_ source: Int) -> Bool { caches[source].source.isClosed(at: time.wallSeconds) }

    /// Returns the refusal of a token whose key its source does not have, if other sources may know the key.
    ///
    /// Two issuers of Microsoft share keys, and one may have fetched a new key before the other: then the token is not
    /// invalid (P-21). Otherwise its issuer does not publish the key (P-10).
    func refusal(_ refusal: TokenRefusal, of token: PresentedToken) -> TokenRefusal {
        let source = token.source
        guard refusal == .unknownKey || refusal == .badSignature else { return refusal }
        let now = time.now
        for other in caches.indices where other != source {
            let snapshot = caches[other].current(now: now)
            guard case .good = snapshot.finding(token.compact, token.header) else { continue }
            let isCertain = refusal == .badSignature || caches[source].isLoaded(since: snapshot.since)
            return isCertain ? .wrongIssuer : .keysUnavailable(retryAfter: caches[source].retryAfter)
        }
        return refusal
    }

    /// Returns the token source of a token, as ``explain(_:)`` finds it; nil if no source has its issuer.
    package func chosenSource(of token: String) -> TokenSourceStatus? {
        let (source, refusal) = choice(for: token)
        return refusal == .wrongIssuer ? nil : source.map { statuses[$0] }
    }

    /// Returns the source by whose rules to explain a token, and the refusal if the choice failed.
    func choice(for token: String) -> (source: Int?, refusal: TokenRefusal?) {
        do throws(TokenRefusal) {
            let index = try source(of: Claims(of: CompactToken(token)))
            return (index, isClosed(index) ? .sourceClosed : nil)
        } catch {
            guard caches.count == 1 else { return (nil, error) }
            // The rules of the only source show the other faults of the token.
            return (0, isClosed(0) ? .sourceClosed : error == .wrongIssuer ? error : nil)
        }
    }
}

/// One token source at one moment, for `/readyz`, `/metrics` and `explain-token`.
package struct TokenSourceStatus: Sendable, Equatable {
    /// The name; nil for the source without a name.
    package let name: String?
    package let keys: KeyStatus
    /// The issuers of the source, as far as they are known.
    package let issuers: [String]
    /// Whether the end date of the source is past.
    package let isClosed: Bool

    /// Whether tokens of the source can be accepted now.
    package var serves: Bool { !isClosed && keys.state.serves }
}

extension TokenSource {
    /// Whether the source has the owners of another source, and so cannot share its own with a third.
    var sharesOwners: Bool { if case .shared = owners { true } else { false } }
}

// The issuers of all sources, for other parts than the verification.
extension BearerVerifier {
    /// The issuers whose tokens are accepted now, for the metadata of the protected resource (P-35).
    ///
    /// A source that has not loaded its metadata has no issuer yet. An issuer for many tenants counts once for each
    /// listed tenant; if every tenant is allowed, the issuer is left out, as no client could use it.
    package var openIssuers: [String] {
        zip(statuses, rules).filter { !$0.0.isClosed }.flatMap { status, rules in
            status.issuers.flatMap { issuer in
                guard IssuerTenant.isTemplate(issuer) else { return [issuer] }
                return (rules.tenants?.listed ?? []).map { IssuerTenant.fill(issuer, with: $0) }
            }
        }.withoutDuplicates
    }

    /// Returns the mistake that a refused token shows, if it shows a common one (P-33).
    package func mistake(in token: String, refused refusal: TokenRefusal) -> CommonMistake? {
        CommonMistake(
            in: token, refused: refusal, issuers: statuses.flatMap(\.issuers),
            audiences: rules.flatMap(\.audience.accepted), now: time.wallSeconds)
    }
}

extension IssuerKeysConfiguration {
    /// The text before the owners of each source in the store, each once; empty for owners without a namespace.
    package var ownerPrefixes: [String] { sources.indices.map(ownerPrefix(ofSource:)).withoutDuplicates }
}
