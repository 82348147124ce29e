/// A whole token as the key of a dictionary (V-100).
///
/// Hashed, with the process's own seed, is the end of the signature only: 96 bits that nobody but the holder of the
/// private key chooses, where hashing all would cost more than everything else of a hit. Compared is every byte.
struct TokenKey: Hashable {
    let token: String
    private let high: UInt64
    private let low: UInt64

    init(_ token: String) {
        self.token = token
        var high: UInt64 = 0
        var low: UInt64 = 0
        for byte in token.utf8.suffix(16) {
            high = high << 8 | low >> 56
            low = low << 8 | UInt64(byte)
        }
        self.high = high
        self.low = low
    }

    /// Spreads keys over so many shards, a power of two.
    func shard(of count: Int) -> Int {
        // The last letters of a signature carry few bits: mix all into the upper ones.
        let mixed = (high ^ low) &* 0x9E37_79B9_7F4A_7C15
        return Int(mixed >> 32) & (count - 1)
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(high)
        hasher.combine(low)
    }

    /// Whether the bytes are the same.
    ///
    /// Swift's equality alone would take "\u{212A}", the Kelvin sign, for the letter K. One side is always a verified
    /// token, which is ASCII; what is canonically equal to ASCII text and not ASCII itself has more bytes than it.
    static func == (left: TokenKey, right: TokenKey) -> Bool {
        left.low == right.low && left.token.utf8.count == right.token.utf8.count && left.token == right.token
    }
}
