internal import Synchronization
internal import Tokens

/// The tokens that were verified, so that each is verified once and not at every request (V-100 to V-110).
///
/// In shards, each under its own lock, so that event loops do not wait for each other (V-109).
final class TokenCache: Sendable {
    private final class Shard: Sendable {
        let content: Mutex<TokenCacheShard>

        init(mostEntries: Int, mostBytes: Int) {
            content = Mutex(TokenCacheShard(mostEntries: mostEntries, mostBytes: mostBytes))
        }
    }

    private let shards: [Shard]

    /// A cache of so many tokens and bytes; of none if either is 0.
    init(mostEntries: Int, mostBytes: Int) {
        guard mostEntries > 0, mostBytes > 0 else {
            shards = []
            return
        }
        // Small caches are one shard: the bounds of a shard are its part of the whole.
        let count = mostEntries >= 1024 ? 16 : 1
        shards = (0..<count).map { _ in Shard(mostEntries: mostEntries / count, mostBytes: mostBytes / count) }
    }

    var isOff: Bool { shards.isEmpty }

    /// What is remembered of a token, if it is still good.
    func find(_ key: TokenKey, isGood: (TokenCacheShard.Entry) -> Bool) -> VerifiedToken? {
        shards[key.shard(of: shards.count)].content.withLock { $0.find(key, isGood: isGood) }
    }

    /// Remembers a token that passed every check (V-102).
    func insert(_ key: TokenKey, _ entry: TokenCacheShard.Entry) {
        shards[key.shard(of: shards.count)].content.withLock { $0.insert(key, entry) }
    }

    /// The counts of all shards together.
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
