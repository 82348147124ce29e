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

    /// Returns the decoded bytes; nil for `%` without two hexadecimal digits, and for an encoded byte that is refused.
    package func decode(_ bytes: ArraySlice<UInt8>) -> [UInt8]? {
        var decoded: [UInt8] = []
        var rest = bytes.makeIterator()
        while let byte = rest.next() {
            if byte == UInt8(ascii: "%") {
                guard let high = rest.next()?.hexadecimalValue, let low = rest.next()?.hexadecimalValue else {
                    return nil
                }
                let byte = high << 4 | low
                if refusesZero && byte == 0 || refusesSlash && byte == UInt8(ascii: "/") { return nil }
                decoded.append(byte)
            } else {
                decoded.append(plusIsSpace && byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
            }
        }
        return decoded
    }
}

/// Percent-encoding (RFC 3986 section 2.1).
package enum PercentEncoding {
    /// Writes all but the unreserved characters of RFC 3986 section 2.3 as `%` and two hexadecimal digits.
    package static func encode(_ text: String, _ letters: HexadecimalCase = .upper) -> String {
        var encoded: [UInt8] = []
        for byte in text.utf8 {
            if byte.isLetterOrDigit || "-._~".utf8.contains(byte) {
                encoded.append(byte)
            } else {
                encoded.append(UInt8(ascii: "%"))
                encoded.append(hexadecimal: byte, letters)
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }
}
