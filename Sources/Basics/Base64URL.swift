/// The text form of bytes in tokens and keys: base64url without padding (RFC 4648 section 5, RFC 7515 section 2).
package enum Base64URL {
    /// Reads the one canonical spelling of some bytes.
    ///
    /// Letters outside of the alphabet, padding, a length that no bytes have, and unused bits that are not zero are all
    /// refused (V-12, V-13): a token has one accepted spelling, so nothing keyed by its text can be slipped past.
    ///
    /// - Parameter text: the letters.
    /// - Returns: the bytes, or nothing for any other spelling.
    package static func decode(_ text: Span<UInt8>) -> [UInt8]? {
        guard text.count % 4 != 1 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count / 4 * 3 + 2)
        let values = values
        var pending: UInt32 = 0
        var bits: UInt32 = 0
        for index in text.indices {
            let value = values[Int(text[index])]
            guard value < 64 else { return nil }
            pending = pending << 6 | UInt32(value)
            bits += 6
            guard bits >= 8 else { continue }
            bits -= 8
            bytes.append(UInt8(truncatingIfNeeded: pending >> bits))
        }
        guard pending & (1 << bits - 1) == 0 else { return nil }
        return bytes
    }

    /// Reads the one canonical spelling of some bytes, see ``decode(_:)-(Span<UInt8>)``.
    package static func decode(_ text: String) -> [UInt8]? {
        decode(Array(text.utf8).span)
    }

    /// The canonical spelling.
    package static func encode(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count / 3 * 4 + 3)
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
        return String(decoding: text, as: UTF8.self)
    }

    private static let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    /// What each letter stands for; 255 for what is no letter.
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: 255, count: 256)
        for (value, letter) in letters.enumerated() {
            values[Int(letter)] = UInt8(value)
        }
        return values
    }()
}
