internal import Tokens

/// A part of the cache of verified tokens: bounded in entries and bytes, evicting by SIEVE (V-106).
///
/// SIEVE keeps the entries in the order of their coming. A hand walks from the oldest to the newest: what was used since
/// it last passed stays and loses its mark, the first without mark goes. So tokens that are used once, however many, go
/// before those in use; and a hit only sets a mark.
struct TokenCacheShard {
    /// What is remembered of a token.
    struct Entry {
        let verified: VerifiedToken
        /// The generation of the keys it was verified under (V-103).
        let generation: UInt64
        /// When it is verified anew at the latest, on the monotonic clock.
        let verifyAgainAt: Int64
    }

    private struct Slot {
        var key: TokenKey
        var entry: Entry
        var isUsed = false
        /// Neighbours, by index.
        var newer: Int?
        var older: Int?
    }

    /// What an entry takes besides its token, roughly: slot, dictionary, strings.
    static let overhead = 512

    private let mostEntries: Int
    private let mostBytes: Int
    private var index: [TokenKey: Int] = [:]
    private var slots: [Slot?] = []
    private var free: [Int] = []
    private var newest: Int?
    private var oldest: Int?
    private var hand: Int?
    private(set) var status = TokenCacheStatus()

    init(mostEntries: Int, mostBytes: Int) {
        self.mostEntries = mostEntries
        self.mostBytes = mostBytes
    }

    /// The entry of a token, if it is in and `isGood` says so; else it is put out (V-104, V-105).
    mutating func find(_ key: TokenKey, isGood: (Entry) -> Bool) -> VerifiedToken? {
        guard let place = index[key], let entry = slots[place]?.entry else {
            status.misses += 1
            return nil
        }
        guard isGood(entry) else {
            remove(place)
            status.misses += 1
            return nil
        }
        slots[place]?.isUsed = true
        status.hits += 1
        return entry.verified
    }

    /// Remembers a token, in the place of what was known of it.
    mutating func insert(_ key: TokenKey, _ entry: Entry) {
        let size = Self.size(of: key)
        guard mostEntries > 0, size <= mostBytes else { return }
        if let place = index[key] {
            slots[place]?.entry = entry
            return
        }
        while status.entries >= mostEntries || status.bytes + size > mostBytes { evict() }
        let place = free.popLast() ?? slots.count
        let slot = Slot(key: key, entry: entry, older: newest)
        if place == slots.count { slots.append(slot) } else { slots[place] = slot }
        if let newest { slots[newest]?.newer = place }
        newest = place
        oldest = oldest ?? place
        index[key] = place
        status.entries += 1
        status.bytes += size
    }

    private mutating func evict() {
        var place = hand ?? oldest
        while let here = place, slots[here]?.isUsed == true {
            slots[here]?.isUsed = false
            place = slots[here]?.newer ?? oldest
        }
        guard let place else { return }
        hand = place
        remove(place)
        status.evictions += 1
    }

    private mutating func remove(_ place: Int) {
        guard let slot = slots[place] else { return }
        if hand == place { hand = slot.newer }
        if let newer = slot.newer { slots[newer]?.older = slot.older } else { newest = slot.older }
        if let older = slot.older { slots[older]?.newer = slot.newer } else { oldest = slot.newer }
        index[slot.key] = nil
        slots[place] = nil
        free.append(place)
        status.entries -= 1
        status.bytes -= Self.size(of: slot.key)
    }

    private static func size(of key: TokenKey) -> Int { key.token.utf8.count + overhead }
}
