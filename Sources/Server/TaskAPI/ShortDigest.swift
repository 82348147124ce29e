/// FNV-1a in 64 bits: tells things apart, and protects nothing from someone who looks for a collision.
struct ShortDigest {
    /// Of what was added so far.
    private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

    mutating func add(_ text: String) {
        let bytes = text.utf8.span
        for index in bytes.indices { add(bytes[index]) }
    }

    mutating func add(_ byte: UInt8) {
        value = (value ^ UInt64(byte)) &* 0x100_0000_01b3
    }
}

extension ShortDigest {
    /// The digest of a text alone.
    init(of text: String) {
        add(text)
    }
}
