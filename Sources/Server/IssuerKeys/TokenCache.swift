import Synchronization
import Tokens

/// The verified tokens, so that each is verified once (V-100 to V-109); see `docs/keys-and-tokens.md`.
///
/// Each shard has its own lock, so that event loops do not wait for each other (V-109).
final class TokenCache: Sendable {
    private final class Shard: Sendable {
        let content: Mutex<TokenCacheShard>

        init(mostEntries: Int, mostBytes: Int) {
            content = Mutex(TokenCacheShard(mostEntries: mostEntries, mostBytes: mostBytes))
        }
    }

    private let shards: [Shard]

    /// Creates a cache with these bounds; it never has entries if either is 0.
    init(mostEntries: Int, mostBytes: Int) {
        guard mostEntries > 0, mostBytes > 0 else {
            shards = []
            return
        }
        // A small cache is one shard, because each shard has a part of the bounds.
        let count = mostEntries >= 1024 ? 16 : 1
        shards = (0..<count).map { _ in Shard(mostEntries: mostEntries / count, mostBytes: mostBytes / count) }
    }

    /// Returns the cached token, if it is still usable.
    func find(_ token: ArraySlice<UInt8>, isUsable: (TokenCacheShard.Entry) -> Bool) -> VerifiedToken? {
        guard !shards.isEmpty else { return nil }
        let key = TokenKey(token.span)
        return shards[key.shard(of: shards.count)].content.withLock { $0.find(key, token, isUsable: isUsable) }
    }

    /// Caches a token that passed every check (V-102).
    func insert(_ token: [UInt8], _ entry: TokenCacheShard.Entry) {
        guard !shards.isEmpty else { return }
        let key = TokenKey(token.span)
        shards[key.shard(of: shards.count)].content.withLock { $0.insert(key, token, entry) }
    }

    /// The sums over all shards.
    var status: TokenCacheStatus {
        shards.reduce(into: TokenCacheStatus()) { sum, shard in
            let status = shard.content.withLock { $0.status }
            sum.hits += status.hits
            sum.misses += status.misses
            sum.evictions += status.evictions
            sum.entries += status.entries
            sum.bytes += status.bytes
        }
    }
}

/// The token cache at one moment, for `/metrics` (V-165).
package struct TokenCacheStatus: Sendable, Equatable {
    /// The look-ups that found a token which was still usable.
    package var hits = 0
    /// All other look-ups.
    package var misses = 0
    /// The tokens that were removed to make room.
    package var evictions = 0
    /// The tokens in the cache now.
    package var entries = 0
    /// The approximate bytes that the tokens take.
    package var bytes = 0
}
