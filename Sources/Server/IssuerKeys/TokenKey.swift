/// A whole token as the key of a dictionary (V-100).
///
/// The last 16 bytes are hashed, with the process's own seed: 96 bits of the signature, which only the holder of the
/// private key can choose. Hashing the whole token would cost more than the rest of a hit. Every byte is compared.
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

    /// The shard of this key, of `count`, a power of two.
    func shard(of count: Int) -> Int {
        // A letter of base64url carries 6 bits: mix all letters into the upper half.
        let mixed = (high ^ low) &* 0x9E37_79B9_7F4A_7C15
        return Int(mixed >> 32) & (count - 1)
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(high)
        hasher.combine(low)
    }

    /// Whether the bytes are the same.
    ///
    /// Swift's equality alone would treat "\u{212A}", the Kelvin sign, as the letter K. One side is always a verified
    /// token, which is ASCII; a text that is canonically equal to ASCII text and not ASCII itself has more bytes.
    static func == (left: TokenKey, right: TokenKey) -> Bool {
        left.low == right.low && left.token.utf8.count == right.token.utf8.count && left.token == right.token
    }
}
