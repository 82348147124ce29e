internal import JSON
internal import Synchronization
internal import Tokens

// A key is known, but perhaps not yet under every policy that publishes it.
//
// Policies are loaded one after the other, and each is published at once, so that one which is out of reach does not
// hold up the others. Between two of them, a good token of the later policy looks like one of a wrong policy: right
// after a start, and after a rotation. It must wait for the fetch, or be told to try again; never be called invalid.
extension BearerVerifier {
    /// Whether a refusal is beyond doubt: false if the keys of the token's own policy may not be up to date.
    func isCertain(_ refusal: TokenRefusal, of token: CompactToken) async -> Bool {
        guard refusal == .wrongPolicy || refusal == .wrongIssuer, let policy = Self.claimedPolicy(of: token) else {
            return true
        }
        return await keys.isUpToDate(policy: policy)
    }

    /// What the token calls its policy; its signature was checked before.
    private static func claimedPolicy(of token: CompactToken) -> String? {
        let claims = (try? JSONValue(parsing: token.payload))?.object
        return claims?["tfp"]?.string ?? claims?["acr"]?.string
    }
}

extension KeyCache {
    /// Waits for a fetch in the air, and asks for none; then whether the last attempt at this policy went well.
    ///
    /// A policy that is not configured is always up to date: nothing will ever be known of it.
    func isUpToDate(policy: String) async -> Bool {
        let sources = configuration.sources.indices.filter { index in
            configuration.sources[index].policy?.lowercased().utf8.elementsEqual(policy.lowercased().utf8) ?? false
        }
        guard !sources.isEmpty else { return true }
        let now = time.now
        let mayWait = guarded.withLock { guarded in
            guarded.state.isFetchAhead && guarded.waiters.count < configuration.timing.mostWaiters
        }
        if mayWait { _ = await wait(deadline: now + configuration.timing.patience.nanoseconds) }
        return guarded.withLock { guarded in
            !guarded.state.isFetchAhead
                && sources.allSatisfy { source in
                    guarded.state.serves(source: source, now: time.now) && !guarded.state.sources[source].isDegraded
                }
        }
    }
}
