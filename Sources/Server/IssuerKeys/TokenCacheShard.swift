import Basics
import Tokens

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

        /// Returns the entry if it is of this token: every byte is compared (V-100).
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
