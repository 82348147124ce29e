internal import Curl
package import Platform
package import Tokens

/// Judges bearer tokens by the keys of the configured sources, and remembers the good ones.
///
/// Usable before ``start()`` and before the first keys are there: then every token that has the form of one gets
/// ``TokenRefusal/keysUnavailable(retryAfter:)`` (V-71).
package final class BearerVerifier: TokenVerifier {
    private let rules: ClaimRules
    private let time: any TimeSource
    let keys: KeyCache
    private let tokens: TokenCache

    /// A verifier with these sources and rules, which has no keys yet.
    ///
    /// - Parameters:
    ///   - configuration: sources, rules, bounds.
    ///   - time: the clocks.
    ///   - fetcher: the way to the providers; cancelled by ``stop()``.
    ///   - chance: a number from 0 to 1 for the jitter of timers.
    ///   - observer: told what happens to the keys; called on any thread, and to return quickly.
    package init(
        _ configuration: IssuerKeysConfiguration, time: any TimeSource = SystemTime(),
        fetcher: any DocumentFetcher = HTTPFetcher(),
        chance: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) },
        observer: @escaping @Sendable (KeyEvent) -> Void = { _ in }
    ) {
        rules = configuration.rules
        self.time = time
        keys = KeyCache(configuration, time: time, fetcher: fetcher, chance: chance, observer: observer)
        tokens = TokenCache(mostEntries: configuration.tokenCacheEntries, mostBytes: configuration.tokenCacheBytes)
    }

    /// How long a verified token is believed before it is verified anew, at most.
    private static let longestMemory: Int64 = 600 * 1_000_000_000

    /// See ``TokenVerifier/remembered(_:)``: byte for byte a token that passed every check (V-101).
    package func remembered(_ token: String) -> Principal? {
        guard !tokens.isOff else { return nil }
        let now = time.now
        let seconds = time.wallMilliseconds / 1000
        let found = tokens.find(TokenKey(token)) { entry in
            entry.verified.usableFrom <= seconds && seconds < entry.verified.usableUntil && now < entry.verifyAgainAt
                && keys.isCurrent(entry.generation, now: now)
        }
        return found?.principal
    }

    /// See ``TokenVerifier/verify(_:)``; waits only for an unknown key, and then not for long.
    package func verify(_ token: String) async throws(TokenRefusal) -> Principal {
        let now = time.now
        let (verified, generation) = try await verified(token)
        guard !tokens.isOff else { return verified.principal }
        tokens.insert(
            TokenKey(token), .init(verified: verified, generation: generation, verifyAgainAt: now + Self.longestMemory))
        return verified.principal
    }

    /// Every check, in the order of the rules: form, header, key, signature, claims.
    private func verified(_ token: String) async throws(TokenRefusal) -> (token: VerifiedToken, generation: UInt64) {
        let compact = try CompactToken(token)
        let header = try JOSEHeader(of: compact)
        let snapshot = try await snapshot(knowing: header.keyIdentifier)
        do throws(TokenRefusal) {
            return try judge(compact, header, by: snapshot)
        } catch {
            let isCertain = await isCertain(error, of: compact)
            let newer = keys.current(now: time.now)
            if isCertain, newer.generation == snapshot.generation { throw error }
            do throws(TokenRefusal) {
                return try judge(compact, header, by: newer)
            } catch {
                guard isCertain else { throw .keysUnavailable(retryAfter: keys.retryAfter) }
                throw error
            }
        }
    }

    private func judge(
        _ compact: CompactToken, _ header: JOSEHeader, by snapshot: KeySnapshot
    ) throws(TokenRefusal) -> (token: VerifiedToken, generation: UInt64) {
        switch snapshot.finding(compact, header) {
        case .good(let issuers):
            let verified = try rules.check(
                compact, signedBy: header.keyIdentifier, of: issuers, now: time.wallMilliseconds / 1000)
            return (verified, snapshot.generation)
        case .bad: throw .badSignature
        case .unknownKey: throw .unknownKey
        case .keysUnavailable: throw .keysUnavailable(retryAfter: keys.retryAfter)
        }
    }

    /// The snapshot to judge by: the current one, or, if it does not know the key, the one after asking (V-81).
    private func snapshot(knowing keyIdentifier: String) async throws(TokenRefusal) -> KeySnapshot {
        let snapshot = keys.current(now: time.now)
        guard !snapshot.entries.isEmpty, snapshot.entries(for: keyIdentifier).isEmpty else { return snapshot }
        let search = await keys.search()
        let newer = keys.current(now: time.now)
        switch search {
        case .lookAgain: return newer
        case .uncertain(let seconds):
            guard !newer.entries(for: keyIdentifier).isEmpty else { throw .keysUnavailable(retryAfter: seconds) }
            return newer
        }
    }

    // MARK: Life

    /// Takes over what the file remembers, starts the threads, begins to fetch; returns at once.
    ///
    /// - Throws: the system's refusal to start a thread.
    package func start() throws(NamedThread.Failure) {
        try keys.start()
    }

    /// Ends running fetches and all waits, and joins the threads; within a second (V-91).
    package func stop() {
        keys.stop()
    }

    /// Fetches all keys anew, for an operator (V-90); granted at most once in five seconds.
    ///
    /// - Returns: whether it was granted.
    @discardableResult
    package func refreshNow() -> Bool {
        keys.refreshNow()
    }

    // MARK: Looking in

    /// The keys at this moment.
    package var status: KeyStatus { keys.status }

    /// The remembered tokens at this moment.
    package var tokenCacheStatus: TokenCacheStatus { tokens.status }

    /// Reads the file and fetches once, on this thread: for programs that explain a token and end.
    package func loadOnce() {
        keys.readFile()
        _ = keys.fetchWhatIsDue()
    }

    /// Explains a token by the keys at hand; asks nobody, remembers nothing.
    ///
    /// - Parameter token: the text, without scheme and surrounding white space.
    /// - Returns: every check with its result. It quotes claims: not for a log.
    package func explain(_ token: String) -> TokenExplanation {
        let snapshot = keys.current(now: time.now)
        return TokenExplanation(
            of: token, rules: rules, issuers: snapshot.entries.flatMap(\.issuers),
            now: time.wallMilliseconds / 1000
        ) { compact, header in
            snapshot.finding(compact, header)
        }
    }
}
