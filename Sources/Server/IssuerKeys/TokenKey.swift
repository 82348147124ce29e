/// The key of a token in the cache: its last 16 bytes (V-100).
///
/// They are 96 bits of the signature, which only the holder of the private key can choose; hashing the whole token
/// would cost more than the rest of a hit. The cache compares every byte, and keeps the newer of two tokens with one
/// end.
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
