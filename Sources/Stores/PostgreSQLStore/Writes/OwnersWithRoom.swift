/// Owners whose last addition found a row with room, as far as this server saw: a hint, which costs no memory for each of them.
///
/// Most additions find such a row, and the cheapest statement then does all the work. Where there is no row yet, or the owner
/// has all the tasks that are allowed, a more expensive statement is needed, which is sent at once to owners that are not among
/// these.
/// A wrong hint costs a second statement and is never wrong about the outcome: every statement looks for itself.
struct OwnersWithRoom {
    private var words: [UInt64]

    /// Bits by hash; owners that share one share the hint.
    init(bits: Int = 1 << 20) {
        words = Array(repeating: 0, count: max(bits / 64, 1))
    }

    func contains(hash: Int) -> Bool {
        let (word, bit) = place(hash)
        return words[word] & bit != 0
    }

    mutating func insert(hash: Int) {
        let (word, bit) = place(hash)
        words[word] |= bit
    }

    mutating func remove(hash: Int) {
        let (word, bit) = place(hash)
        words[word] &= ~bit
    }

    private func place(_ hash: Int) -> (word: Int, bit: UInt64) {
        let bits = UInt(bitPattern: hash)
        return (Int((bits >> 6) % UInt(words.count)), 1 << (bits & 63))
    }
}
