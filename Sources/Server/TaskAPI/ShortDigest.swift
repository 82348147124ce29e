extension Sequence<UInt8> {
    /// FNV-1a in 64 bits: tells things apart, and protects nothing from somebody who looks for a collision.
    func shortDigest(from start: UInt64 = 0xcbf2_9ce4_8422_2325) -> UInt64 {
        reduce(start) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    }
}
