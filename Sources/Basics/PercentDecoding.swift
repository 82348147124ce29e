/// Why a percent-encoded text could not be decoded.
package enum PercentError: Error, Equatable {
    /// A `%` without two hexadecimal digits after it.
    case badEscape
    /// `%00`.
    case zero
    /// `%2F` where it is not allowed.
    case slash
    /// More pairs than ``FormURLEncoded/mostFields``.
    case tooMany
}

/// How percent-encoded text is read in one place of a message.
package struct PercentDecoding {
    /// Whether `+` stands for a space (forms and queries).
    package var plusIsSpace = false
    /// Whether `%00` is refused.
    package var refusesZero = true
    /// Whether `%2F` is refused (segments of a path).
    package var refusesSlash = false

    package init(plusIsSpace: Bool = false, refusesZero: Bool = true, refusesSlash: Bool = false) {
        self.plusIsSpace = plusIsSpace
        self.refusesZero = refusesZero
        self.refusesSlash = refusesSlash
    }

    package func decode(_ bytes: some Sequence<UInt8>) throws(PercentError) -> [UInt8] {
        var decoded: [UInt8] = []
        var rest = bytes.makeIterator()
        while let byte = rest.next() {
            if byte == UInt8(ascii: "%") {
                guard let high = rest.next()?.hexadecimalValue, let low = rest.next()?.hexadecimalValue else {
                    throw .badEscape
                }
                decoded.append(try admit(high << 4 | low))
            } else {
                decoded.append(plusIsSpace && byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
            }
        }
        return decoded
    }

    private func admit(_ byte: UInt8) throws(PercentError) -> UInt8 {
        if refusesZero, byte == 0 { throw .zero }
        if refusesSlash, byte == UInt8(ascii: "/") { throw .slash }
        return byte
    }
}

extension UInt8 {
    /// The value of a hexadecimal digit; nothing for any other byte.
    package var hexadecimalValue: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
