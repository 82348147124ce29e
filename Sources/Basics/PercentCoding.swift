/// Why a percent-encoded text could not be decoded.
package enum PercentError: Error, Equatable {
    /// A `%` has no two hexadecimal digits after it.
    case badEscape
    /// The text has `%00`.
    case zero
    /// The text has `%2F` where it is not allowed.
    case slash
    /// The text has more pairs of names and values than are allowed.
    case tooMany
}

/// The rules for reading percent-encoded text in one place of a message.
package struct PercentDecoding {
    /// Whether `+` means a space (forms and queries).
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

    package func decode(_ bytes: ArraySlice<UInt8>) throws(PercentError) -> [UInt8] {
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

/// Percent-encoding (RFC 3986 section 2.1).
package enum PercentEncoding {
    /// Writes all but the unreserved characters of RFC 3986 section 2.3 as `%` and two hexadecimal digits.
    package static func encode(_ text: String, _ letters: HexadecimalCase = .upper) -> String {
        var encoded: [UInt8] = []
        for byte in text.utf8 {
            if isUnreserved(byte) {
                encoded.append(byte)
            } else {
                encoded.append(UInt8(ascii: "%"))
                encoded.append(hexadecimal: byte, letters)
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }
}
