import Basics
import Synchronization
import Tokens

/// The verified tokens, so that each is verified once (V-100 to V-109); see `docs/internals/how-it-works.md`.
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

    /// Creates a cache with these bounds; with a bound of 0 the cache stays empty.
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

/// A part of the cache of verified tokens, bounded in entries and bytes, that evicts by CLOCK (V-106).
///
/// A hit sets a mark. To make room, a hand goes round the slots and removes marks, until it evicts the first entry
/// without one. So tokens that are used once are evicted before those in use.
struct TokenCacheShard {
    /// The cached result of a token's verification.
    struct Entry {
        let verified: VerifiedToken
        /// The index of its token source (P-20).
        let source: Int
        /// The generation of that source's keys under which the token was verified (V-103).
        let generation: UInt64
        /// The time at which the token must be verified anew, in nanoseconds of the monotonic clock.
        let verifyAgainAt: Int64
    }

    private struct Slot {
        let key: TokenKey
        var token: [UInt8]
        var entry: Entry
        var isUsed = false

        /// Returns the entry if every byte of its token is the same (V-100).
        func entry(of token: ArraySlice<UInt8>) -> Entry? {
            self.token.span.isSame(as: token.span) ? entry : nil
        }
    }

    /// The approximate bytes of an entry in addition to its token: slot, dictionary, strings.
    static let overhead = 512

    private let mostEntries: Int
    private let mostBytes: Int
    private var index: [TokenKey: Int] = [:]
    private var slots: [Slot?] = []
    private var free: [Int] = []
    /// The slot at which the hand stopped last.
    private var hand = 0
    private(set) var status = TokenCacheStatus()

    init(mostEntries: Int, mostBytes: Int) {
        self.mostEntries = mostEntries
        self.mostBytes = mostBytes
    }

    /// Returns the cached token; removes an entry that `isUsable` rejects (V-104, V-105).
    mutating func find(
        _ key: TokenKey, _ token: ArraySlice<UInt8>, isUsable: (Entry) -> Bool
    ) -> VerifiedToken? {
        guard let slot = index[key], let entry = slots[slot]?.entry(of: token) else {
            status.misses += 1
            return nil
        }
        guard isUsable(entry) else {
            remove(slot)
            status.misses += 1
            return nil
        }
        slots[slot]?.isUsed = true
        status.hits += 1
        return entry.verified
    }

    /// Caches a token, and replaces its earlier entry if there is one.
    mutating func insert(_ key: TokenKey, _ token: [UInt8], _ entry: Entry) {
        let size = Self.size(of: token)
        guard size <= mostBytes else { return }
        if let slot = index[key] {
            if slots[slot]?.token == token {
                slots[slot]?.entry = entry
                return
            }
            remove(slot)
        }
        while status.entries >= mostEntries || status.bytes + size > mostBytes { evict() }
        let slot = free.popLast() ?? slots.count
        let content = Slot(key: key, token: token, entry: entry)
        if slot == slots.count { slots.append(content) } else { slots[slot] = content }
        index[key] = slot
        status.entries += 1
        status.bytes += size
    }

    /// Evicts an entry, of which there must be one: the second round at the latest finds it without a mark.
    private mutating func evict() {
        var isFound = false
        while !isFound {
            hand = (hand + 1) % slots.count
            isFound = slots[hand]?.isUsed == false
            slots[hand]?.isUsed = false
        }
        remove(hand)
        status.evictions += 1
    }

    private mutating func remove(_ slot: Int) {
        guard let content = slots[slot] else { return }
        index[content.key] = nil
        slots[slot] = nil
        free.append(slot)
        status.entries -= 1
        status.bytes -= Self.size(of: content.token)
    }

    private static func size(of token: [UInt8]) -> Int { token.count + overhead }
}

/// The key of a token in the cache: its last 16 bytes (V-100).
///
/// These bytes are 96 bits of the signature, which only the holder of the private key can choose. Hashing the whole
/// token would cost more than the rest of a hit. The cache compares every byte, and keeps the newer of two tokens with
/// one end.
struct TokenKey: Hashable {
    private let end: UInt128

    init(_ token: Span<UInt8>) {
        var end: UInt128 = 0
        for index in max(0, token.count - 16)..<token.count { end = end << 8 | UInt128(token[index]) }
        self.end = end
    }

    /// Returns the shard of this key; `count` is a power of two.
    func shard(of count: Int) -> Int {
        // A letter of base64url carries 6 bits, so all letters are mixed into the upper half.
        let mixed = UInt64(truncatingIfNeeded: end >> 64 ^ end) &* 0x9E37_79B9_7F4A_7C15
        return Int(mixed >> 32) & (count - 1)
    }
}
