extension UInt8 {
    /// The value of a hexadecimal digit in either case; nothing for any other byte.
    @inlinable package var hexadecimalValue: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}

/// The letters of the digits from ten.
package enum HexadecimalCase: Sendable {
    case lower, upper
}

extension [UInt8] {
    /// Appends the two digits of a byte.
    package mutating func append(hexadecimal byte: UInt8, _ letters: HexadecimalCase = .lower) {
        append(Self.digit(byte >> 4, letters))
        append(Self.digit(byte & 15, letters))
    }

    /// Appends the sixteen digits of a number.
    package mutating func append(hexadecimal number: UInt64) {
        for shift in stride(from: 56, through: 0, by: -8) {
            append(hexadecimal: UInt8(truncatingIfNeeded: number >> UInt64(shift)))
        }
    }

    private static func digit(_ value: UInt8, _ letters: HexadecimalCase) -> UInt8 {
        if value < 10 { return UInt8(ascii: "0") + value }
        return (letters == .lower ? UInt8(ascii: "a") : UInt8(ascii: "A")) + value - 10
    }
}

extension String {
    /// Two lower-case digits for each byte.
    package init(hexadecimal bytes: some Sequence<UInt8>) {
        self = String(decoding: bytes.reduce(into: [UInt8]()) { $0.append(hexadecimal: $1) }, as: UTF8.self)
    }
}
