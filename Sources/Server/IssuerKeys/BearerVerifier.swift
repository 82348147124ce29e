import Curl
package import Platform
import Synchronization
package import Tokens

/// Verifies bearer tokens with the keys of the configured key sources, and caches the verified ones.
///
/// Usable before ``start()`` and before the first keys are loaded: until then every token of the right form gets
/// ``TokenRefusal/keysUnavailable(retryAfter:)`` (V-71).
package final class BearerVerifier: TokenVerifier {
    private let rules: ClaimRules
    private let time: any TimeSource
    let keys: KeyCache
    private let tokens: TokenCache
    private let verifications = Atomic<Int>(0)
    private let verificationNanoseconds = Atomic<Int64>(0)

    /// A verifier that has no keys yet.
    ///
    /// - Parameters:
    ///   - configuration: key sources, rules, bounds.
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
        rules = configuration.rules
        self.time = time
        keys = KeyCache(configuration, time: time, fetcher: fetcher, chance: chance, observer: observer)
        tokens = TokenCache(mostEntries: configuration.tokenCacheEntries, mostBytes: configuration.tokenCacheBytes)
    }

    /// After how long a cached token is verified anew, in nanoseconds.
    private static let longestMemory: Int64 = 600 * 1_000_000_000

    /// See ``TokenVerifier/cached(_:)``: byte for byte a token that passed every check (V-101).
    package func cached(_ token: String) -> Principal? {
        guard !tokens.isOff else { return nil }
        let now = time.now
        let seconds = time.wallMilliseconds / 1000
        let found = tokens.find(TokenKey(token)) { entry in
            entry.verified.isUsable(at: seconds) && now < entry.verifyAgainAt
                && keys.isCurrent(entry.generation, now: now)
        }
        return found?.principal
    }

    /// See ``TokenVerifier/verify(_:)``; waits only for an unknown key, and then for a limited time (V-81).
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
            return try check(compact, header, by: snapshot)
        } catch {
            let isAuthoritative = await isAuthoritative(error, of: compact)
            let newer = keys.current(now: time.now)
            if isAuthoritative, newer.generation == snapshot.generation { throw error }
            do throws(TokenRefusal) {
                return try check(compact, header, by: newer)
            } catch {
                guard isAuthoritative else { throw .keysUnavailable(retryAfter: keys.retryAfter) }
                throw error
            }
        }
    }

    /// Checks signature and claims.
    private func check(
        _ compact: CompactToken, _ header: JOSEHeader, by snapshot: KeySnapshot
    ) throws(TokenRefusal) -> (token: VerifiedToken, generation: UInt64) {
        let start = time.now
        switch snapshot.finding(compact, header) {
        case .good(let issuers):
            defer { countVerification(since: start) }
            let verified = try rules.check(
                compact, signedBy: header.keyIdentifier, of: issuers, now: time.wallMilliseconds / 1000)
            return (verified, snapshot.generation)
        case .bad:
            countVerification(since: start)
            throw .badSignature
        case .unknownKey: throw .unknownKey
        case .keysUnavailable: throw .keysUnavailable(retryAfter: keys.retryAfter)
        }
    }

    private func countVerification(since start: Int64) {
        verifications.add(1, ordering: .relaxed)
        verificationNanoseconds.add(time.now - start, ordering: .relaxed)
    }

    /// The snapshot to verify with: the current one, or, if it does not have the key, the one after a search (V-81).
    private func snapshot(knowing keyIdentifier: String) async throws(TokenRefusal) -> KeySnapshot {
        let snapshot = keys.current(now: time.now)
        guard !snapshot.entries.isEmpty, snapshot.entries(for: keyIdentifier).isEmpty else { return snapshot }
        let result = await keys.searchUnknownKey()
        let newer = keys.current(now: time.now)
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
        try keys.start()
    }

    /// Ends fetches that run and all waits, and joins the threads; within a second (V-91).
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

    // MARK: Status

    package var status: KeyStatus { keys.status }

    package var tokenCacheStatus: TokenCacheStatus { tokens.status }

    package var verificationStatus: VerificationStatus {
        VerificationStatus(
            verifications: verifications.load(ordering: .relaxed),
            nanoseconds: verificationNanoseconds.load(ordering: .relaxed))
    }

    // MARK: Explaining tokens

    /// Reads the key file and fetches once, on this thread: for programs that explain a token and end.
    package func loadOnce() {
        keys.readFile()
        _ = keys.refreshIfDue()
    }

    /// Explains a token by the keys that are loaded; fetches nothing, caches nothing.
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

/// The verifications since the start, for `/metrics` (V-165).
package struct VerificationStatus: Sendable, Equatable {
    /// Tokens whose signature and claims were checked, whatever came of it; hits of the token cache are not among them.
    package var verifications = 0
    /// What that took together, without waits for keys.
    package var nanoseconds: Int64 = 0
}
