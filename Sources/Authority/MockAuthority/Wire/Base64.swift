import Basics

/// Base64 of RFC 4648, written in the standard alphabet and read in both; tokens are written by `Base64URL`.
enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    /// With `+`, `/` and padding: for Basic credentials and the page's settings.
    static func encode(_ bytes: [UInt8]) -> String {
        var digits: [UInt8] = []
        digits.reserveCapacity((bytes.count * 4 + 2) / 3)
        var held: UInt32 = 0
        var count = 0
        for byte in bytes {
            held = held << 8 | UInt32(byte)
            count += 8
            while count >= 6 {
                count -= 6
                digits.append(alphabet[Int(held >> UInt32(count) & 63)])
            }
            held &= (1 << UInt32(count)) - 1
        }
        if count > 0 { digits.append(alphabet[Int(held << UInt32(6 - count) & 63)]) }
        while digits.count % 4 > 0 { digits.append(UInt8(ascii: "=")) }
        return String(decoding: digits, as: UTF8.self)
    }

    /// The bytes of either alphabet, padded or not; nothing for any other text.
    ///
    /// Lenient because clients are: what must be strict here is the token check of the server, not ours.
    static func decode(_ text: some StringProtocol) -> [UInt8]? {
        var bytes: [UInt8] = []
        var held: UInt32 = 0
        var count = 0
        for digit in text.utf8 where digit != UInt8(ascii: "=") {
            guard let value = value(of: digit) else { return nil }
            held = (held << 6 | value) & 0xFFFF
            count += 6
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: held >> UInt32(count)))
            }
        }
        return bytes
    }

    private static func value(of digit: UInt8) -> UInt32? {
        switch digit {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(digit - UInt8(ascii: "A"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(digit - UInt8(ascii: "a")) + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(digit - UInt8(ascii: "0")) + 52
        case UInt8(ascii: "+"), UInt8(ascii: "-"): 62
        case UInt8(ascii: "/"), UInt8(ascii: "_"): 63
        default: nil
        }
    }
}
