/// The text form of bytes in tokens and keys: base64url without padding (RFC 4648 section 5, RFC 7515 section 2).
package enum Base64URL {
    /// Reads the one canonical spelling of some bytes.
    ///
    /// Letters outside of the alphabet, padding, a length that no bytes have, and unused bits that are not zero are all
    /// refused (V-12, V-13): a token has one accepted spelling, so no check of its text can be evaded.
    package static func decode(_ text: Span<UInt8>) -> [UInt8]? {
        let (whole, rest) = (text.count / 4, text.count % 4)
        guard rest != 1 else { return nil }
        // The values are joined, because a byte that is no letter has bits that no four letters have.
        var all: UInt32 = 0
        // The bytes of four letters are 24 bits; missing letters count as A, which is 0.
        var last: UInt32 = 0
        let count = whole * 3 + (rest == 0 ? 0 : rest - 1)
        // Accesses are in bounds: letters are read up to 4 * whole, bytes written up to 3 * whole; every byte has a
        // value.
        let bytes = unsafe text.withUnsafeBufferPointer { text in
            unsafe Base64Alphabet.url.values.withUnsafeBufferPointer { values in
                unsafe [UInt8](unsafeUninitializedCapacity: count) { bytes, initialized in
                    for group in 0..<whole {
                        let (letter, byte) = (group &* 4, group &* 3)
                        let bits =
                            unsafe values[Int(text[letter])] << 18 | values[Int(text[letter &+ 1])] << 12
                            | values[Int(text[letter &+ 2])] << 6 | values[Int(text[letter &+ 3])]
                        all |= bits
                        unsafe bytes[byte] = UInt8(truncatingIfNeeded: bits >> 16)
                        unsafe bytes[byte &+ 1] = UInt8(truncatingIfNeeded: bits >> 8)
                        unsafe bytes[byte &+ 2] = UInt8(truncatingIfNeeded: bits)
                    }
                    for letter in 0..<rest {
                        last |= unsafe values[Int(text[whole * 4 + letter])] << UInt32(18 - 6 * letter)
                    }
                    for byte in 0..<max(rest - 1, 0) {
                        unsafe bytes[whole * 3 + byte] = UInt8(truncatingIfNeeded: last >> UInt32(16 - 8 * byte))
                    }
                    initialized = count
                }
            }
        }
        let unused = rest == 0 ? 0 : last << UInt32(8 * rest)
        return all | last < 1 << 24 && unused == 0 ? bytes : nil
    }

    /// Reads the one canonical spelling of some bytes, see ``decode(_:)-(Span<UInt8>)``.
    package static func decode(_ text: String) -> [UInt8]? {
        decode(text.utf8.span)
    }

    /// Returns the canonical spelling.
    package static func encode(_ bytes: [UInt8]) -> String {
        String(decoding: Base64Alphabet.url.encode(bytes), as: UTF8.self)
    }
}

/// Base64 (RFC 4648): written with the standard alphabet and padding, read leniently.
package enum Base64 {
    /// Returns the text with `+`, `/` and padding.
    package static func encode(_ bytes: [UInt8]) -> String {
        var text = Base64Alphabet.standard.encode(bytes)
        while text.count % 4 > 0 { text.append(UInt8(ascii: "=")) }
        return String(decoding: text, as: UTF8.self)
    }

    /// Returns the bytes of a text in either alphabet, with or without padding; nil if it has other letters.
    ///
    /// Unused bits may have any value, and a last letter that makes no byte is dropped.
    package static func decodeLenient(_ text: some StringProtocol) -> [UInt8]? {
        var bytes: [UInt8] = []
        var pending: UInt32 = 0
        var bits: UInt32 = 0
        for letter in text.utf8 where letter != UInt8(ascii: "=") {
            let value = min(Base64Alphabet.url.values[Int(letter)], Base64Alphabet.standard.values[Int(letter)])
            guard value < 64 else { return nil }
            pending = pending << 6 | value
            bits += 6
            guard bits >= 8 else { continue }
            bits -= 8
            bytes.append(UInt8(truncatingIfNeeded: pending >> bits))
        }
        return bytes
    }
}

private struct Base64Alphabet {
    static let url = Base64Alphabet(last: "-_")
    static let standard = Base64Alphabet(last: "+/")

    let letters: [UInt8]
    /// The value of each byte; a byte that is no letter has all bits set.
    let values: [UInt32]

    init(last: String) {
        letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789\(last)".utf8)
        var values = [UInt32](repeating: .max, count: 256)
        for (value, letter) in letters.enumerated() { values[Int(letter)] = UInt32(value) }
        self.values = values
    }

    /// Returns the text without padding.
    func encode(_ bytes: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count / 3 * 4 + 4)
        var pending: UInt32 = 0
        var bits: UInt32 = 0
        for byte in bytes {
            pending = pending << 8 | UInt32(byte)
            bits += 8
            while bits >= 6 {
                bits -= 6
                text.append(letters[Int(pending >> bits & 63)])
            }
        }
        if bits > 0 { text.append(letters[Int(pending << (6 - bits) & 63)]) }
        return text
    }
}
