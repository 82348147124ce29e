/// The text form of bytes in tokens and keys: base64url without padding (RFC 4648 section 5, RFC 7515 section 2).
package enum Base64URL {
    /// Reads the one canonical spelling of some bytes.
    ///
    /// Letters outside of the alphabet, padding, a length that no bytes have, and unused bits that are not zero are all
    /// refused (V-12, V-13): a token has one accepted spelling, so no check of its text can be evaded.
    ///
    /// - Returns: the bytes, or nothing for any other spelling.
    package static func decode(_ text: Span<UInt8>) -> [UInt8]? {
        guard text.count % 4 != 1 else { return nil }
        let values = Base64Alphabet.url.values
        // All values and the unused bits together: 255, of a byte that is no letter, has bits that no value has.
        var all: UInt8 = 0
        var unused: UInt8 = 0
        let bytes = [UInt8](capacity: text.count * 3 / 4) { bytes in
            var index = 0
            while index + 4 <= text.count {
                let (a, b) = (values[Int(text[index])], values[Int(text[index + 1])])
                let (c, d) = (values[Int(text[index + 2])], values[Int(text[index + 3])])
                all |= a | b | c | d
                bytes.append(a << 2 | b >> 4)
                bytes.append(b << 4 | c >> 2)
                bytes.append(c << 6 | d)
                index += 4
            }
            guard index < text.count else { return }
            let (a, b) = (values[Int(text[index])], values[Int(text[index + 1])])
            all |= a | b
            unused = b << 4
            bytes.append(a << 2 | b >> 4)
            guard index + 2 < text.count else { return }
            let c = values[Int(text[index + 2])]
            all |= c
            unused = c << 6
            bytes.append(b << 4 | c >> 2)
        }
        return all < 64 && unused == 0 ? bytes : nil
    }

    /// Reads the one canonical spelling of some bytes, see ``decode(_:)-(Span<UInt8>)``.
    package static func decode(_ text: String) -> [UInt8]? {
        decode(text.utf8.span)
    }

    /// The canonical spelling.
    package static func encode(_ bytes: [UInt8]) -> String {
        String(decoding: Base64Alphabet.url.encode(bytes), as: UTF8.self)
    }
}

/// Base64 (RFC 4648): written with the standard alphabet and padding, read leniently.
package enum Base64 {
    /// With `+`, `/` and padding.
    package static func encode(_ bytes: [UInt8]) -> String {
        var text = Base64Alphabet.standard.encode(bytes)
        while text.count % 4 > 0 { text.append(UInt8(ascii: "=")) }
        return String(decoding: text, as: UTF8.self)
    }

    /// The bytes of a text in either alphabet, with or without padding; nothing for other letters.
    ///
    /// Unused bits may have any value, and a last letter that makes no byte is dropped.
    package static func decodeLenient(_ text: some StringProtocol) -> [UInt8]? {
        var digits = Base64Digits(capacity: text.utf8.count)
        for letter in text.utf8 where letter != UInt8(ascii: "=") {
            let value = min(Base64Alphabet.url.values[Int(letter)], Base64Alphabet.standard.values[Int(letter)])
            guard digits.add(value) else { return nil }
        }
        return digits.bytes
    }
}

private struct Base64Alphabet {
    static let url = Base64Alphabet(last: "-_")
    static let standard = Base64Alphabet(last: "+/")

    let letters: [UInt8]
    /// The value of each byte; 255 for one that is no letter.
    let values: InlineArray<256, UInt8>

    init(last: String) {
        letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789\(last)".utf8)
        var values = InlineArray<256, UInt8>(repeating: 255)
        for (value, letter) in letters.enumerated() { values[Int(letter)] = UInt8(value) }
        self.values = values
    }

    /// Without padding.
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

/// Joins values of six bits to bytes.
private struct Base64Digits {
    private(set) var bytes: [UInt8] = []
    private var pending: UInt32 = 0
    private var bits: UInt32 = 0

    init(capacity letters: Int) {
        bytes.reserveCapacity(letters / 4 * 3 + 2)
    }

    /// False for the value of no letter.
    mutating func add(_ value: UInt8) -> Bool {
        guard value < 64 else { return false }
        pending = pending << 6 | UInt32(value)
        bits += 6
        guard bits >= 8 else { return true }
        bits -= 8
        bytes.append(UInt8(truncatingIfNeeded: pending >> bits))
        return true
    }
}
