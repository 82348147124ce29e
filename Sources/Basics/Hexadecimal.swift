extension UInt8 {
    /// The value of a hexadecimal digit in either case; nil for any other byte.
    @inlinable package var hexadecimalValue: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}

/// The case of the digits from ten.
package enum HexadecimalCase: Sendable {
    case lower, upper
}

extension [UInt8] {
    /// Appends the two digits of a byte.
    package mutating func append(hexadecimal byte: UInt8, _ letters: HexadecimalCase = .lower) {
        append(Self.digit(byte >> 4, letters))
        append(Self.digit(byte & 15, letters))
    }

    private static func digit(_ value: UInt8, _ letters: HexadecimalCase) -> UInt8 {
        if value < 10 { return UInt8(ascii: "0") + value }
        return (letters == .lower ? UInt8(ascii: "a") : UInt8(ascii: "A")) + value - 10
    }
}

extension UInt64 {
    /// The sixteen digits in lower case.
    package var hexadecimal: String {
        unsafe withUnsafeBytes(of: hexadecimalDigits) { unsafe String(decoding: $0, as: UTF8.self) }
    }

    /// The sixteen digits in lower case, as they lie in memory.
    var hexadecimalDigits: (UInt64, UInt64) {
        (UInt32(truncatingIfNeeded: self >> 32).hexadecimalDigits, UInt32(truncatingIfNeeded: self).hexadecimalDigits)
    }
}

extension UInt32 {
    /// The eight digits in lower case, as they lie in memory, made all at once with one in each byte.
    fileprivate var hexadecimalDigits: UInt64 {
        var nibbles = UInt64(self)
        nibbles = (nibbles | nibbles << 16) & 0x0000_FFFF_0000_FFFF
        nibbles = (nibbles | nibbles << 8) & 0x00FF_00FF_00FF_00FF
        nibbles = (nibbles | nibbles << 4) & 0x0F0F_0F0F_0F0F_0F0F
        // Each byte that is a letter gets a 1, because adding 6 carries it beyond 15.
        let letters = (nibbles &+ 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101
        return (nibbles &+ 0x3030_3030_3030_3030 &+ letters &* 0x27).bigEndian
    }
}

extension String {
    /// Writes two lower-case digits for each byte.
    package init(hexadecimal bytes: some Sequence<UInt8>) {
        self = String(decoding: bytes.reduce(into: [UInt8]()) { $0.append(hexadecimal: $1) }, as: UTF8.self)
    }
}
