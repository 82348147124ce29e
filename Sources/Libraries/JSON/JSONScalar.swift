import Basics

/// A string, number or word in a JSON text that was found sound, to be decoded on demand.
struct JSONScalar {
    enum Kind {
        /// A string without escapes: its text is the bytes between its quotes.
        case plainString
        /// A string with escapes, which were checked; the range lies between its quotes.
        case escapedString
        /// A whole number that fits into 64 bits.
        case integer
        /// A finite number with a fraction or an exponent.
        case real
        case `true`, `false`, null
    }

    let kind: Kind
    /// The range of the value in the text is `start..<end`.
    let start: Int
    let end: Int

    var count: Int { end - start }

    /// Decodes the value from the text in which it was found.
    func value(in text: [UInt8]) -> JSONValue {
        switch kind {
        case .plainString, .escapedString: .string(string(in: text))
        case .integer: .integer(integer(in: text))
        case .real: .real(Double(decoded(text)) ?? 0)
        case .true: .boolean(true)
        case .false: .boolean(false)
        case .null: .null
        }
    }

    func string(in text: [UInt8]) -> String {
        kind == .escapedString ? unescaped(text) : decoded(text)
    }

    private func decoded(_ text: [UInt8]) -> String {
        // The bytes are borrowed for the call, which copies them.
        unsafe text.withUnsafeBytes { bytes in
            unsafe String(decoding: UnsafeRawBufferPointer(rebasing: bytes[start..<end]), as: UTF8.self)
        }
    }

    private func integer(in text: [UInt8]) -> Int64 {
        let isNegative = text[start] == UInt8(ascii: "-")
        var number: Int64 = 0
        for index in (isNegative ? start + 1 : start)..<end {
            // The sum is negative, because the smallest number has no positive counterpart.
            number = number &* 10 &- Int64(text[index] & 0x0F)
        }
        return isNegative ? number : 0 &- number
    }

    /// Returns the text with its escapes resolved (RFC 8259 section 7).
    private func unescaped(_ text: [UInt8]) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        var units: [UInt16] = []
        var index = start
        while index < end {
            guard text[index] == UInt8(ascii: "\\") else {
                bytes.append(text[index])
                index += 1
                continue
            }
            guard text[index + 1] == UInt8(ascii: "u") else {
                bytes.append(Self.character(ofEscape: text[index + 1]))
                index += 2
                continue
            }
            // Two surrogates are one character, so escapes that follow each other are decoded together.
            units.removeAll(keepingCapacity: true)
            while index < end, text[index] == UInt8(ascii: "\\"), text[index + 1] == UInt8(ascii: "u") {
                units.append((index + 2..<index + 6).reduce(0) { $0 << 4 | UInt16(text[$1].hexadecimalValue ?? 0) })
                index += 6
            }
            bytes.append(contentsOf: String(decoding: units, as: UTF16.self).utf8)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func character(ofEscape letter: UInt8) -> UInt8 {
        switch letter {
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "f"): 0x0C
        case UInt8(ascii: "n"): 0x0A
        case UInt8(ascii: "r"): 0x0D
        case UInt8(ascii: "t"): 0x09
        default: letter
        }
    }
}

/// The name of a member, in a JSON text.
struct JSONName {
    let string: JSONScalar
    /// A hash of the name, which differs for most names that differ.
    private let hash: UInt64

    init(_ string: JSONScalar, in text: [UInt8]) {
        self.string = string
        let bytes = text.span
        hash =
            string.kind == .plainString
            ? Self.hash(bytes.extracting(string.start..<string.end)) : Self.hash(string.string(in: text).utf8.span)
    }

    /// The factor is random in each process, so that nobody can choose names that have the same hash.
    private static let factor = UInt64.random(in: .min ... .max) | 1

    private static func hash(_ bytes: Span<UInt8>) -> UInt64 {
        var hash: UInt64 = 0
        for index in bytes.indices { hash = hash &* factor &+ UInt64(bytes[index]) }
        return hash
    }

    /// Returns whether both names are the same after their escapes are resolved.
    func isSame(as other: JSONName, in text: [UInt8]) -> Bool {
        hash == other.hash && string.string(in: text).isSame(as: other.string.string(in: text))
    }

    /// Returns the index of a name among these names.
    static func index(of name: String, in names: [JSONName], of text: [UInt8]) -> Int? {
        let hash = hash(name.utf8.span)
        for index in names.indices where names[index].hash == hash && names[index].isSame(as: name, in: text) {
            return index
        }
        return nil
    }

    private func isSame(as name: String, in text: [UInt8]) -> Bool {
        guard string.kind == .plainString else { return string.string(in: text).isSame(as: name) }
        return text.span.extracting(string.start..<string.end).isSame(as: name.utf8.span)
    }
}
