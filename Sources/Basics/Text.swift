private import Glibc

// These functions compare bytes. Swift's `==` takes canonically equivalent strings for equal, so one identifier could
// pass for another; and tokens are compared code point by code point (RFC 7519 section 7.3).
extension StringProtocol {
    /// Returns whether both have the same UTF-8 bytes.
    package func isSame(as other: some StringProtocol) -> Bool {
        utf8.elementsEqual(other.utf8)
    }

    /// Returns whether both have the same UTF-8 bytes, with only `A` to `Z` read as `a` to `z`.
    package func isEqualIgnoringCase(to other: some StringProtocol) -> Bool {
        utf8.count == other.utf8.count && zip(utf8, other.utf8).allSatisfy { $0.lowercasedASCII == $1.lowercasedASCII }
    }
}

// These overloads for whole strings need no generics, because names of fields are compared for every request.
extension String {
    package func isSame(as other: String) -> Bool {
        utf8.span.isSame(as: other.utf8.span)
    }

    @inlinable package func isEqualIgnoringCase(to other: String) -> Bool {
        utf8.span.isEqualIgnoringCase(to: other)
    }

    /// Returns whether this begins with a text, `A` to `Z` read as `a` to `z` in both.
    @inlinable package func beginsIgnoringCase(_ start: String) -> Bool { utf8.span.beginsIgnoringCase(start) }

    /// The same text, with `A` to `Z` as `a` to `z`.
    package var lowercasedASCII: String {
        let hasUppercase = utf8.span.contains { $0 != $0.lowercasedASCII }
        return hasUppercase ? String(decoding: utf8.map(\.lowercasedASCII), as: UTF8.self) : self
    }

    package var hasControlCharacter: Bool {
        unicodeScalars.contains { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) }
    }

    package var containsNUL: Bool { utf8.span.contains { $0 == 0 } }

    /// Returns at most this many characters, with a question mark for each that is not printable ASCII: the text came
    /// from elsewhere, and goes to a terminal or a log.
    package func printable(_ most: Int = 512) -> String {
        String(unicodeScalars.prefix(most).map { (0x20..<0x7F).contains($0.value) ? Character($0) : "?" })
    }
}

extension [String] {
    /// The texts, each once at its first place.
    package var withoutDuplicates: [String] {
        reduce(into: []) { list, text in
            if !list.contains(where: { $0.isSame(as: text) }) { list.append(text) }
        }
    }
}

extension Substring {
    /// The text without spaces and tabs around it.
    package var trimmingBlanks: Substring { Substring(utf8.trimmingBlanks) }
}

extension BidirectionalCollection<UInt8> where SubSequence == Self {
    /// The bytes without spaces and tabs around them.
    @inlinable package var trimmingBlanks: Self {
        var bytes = self
        while let first = bytes.first, first.isBlank { bytes.removeFirst() }
        while let last = bytes.last, last.isBlank { bytes.removeLast() }
        return bytes
    }
}

extension UInt8 {
    /// The byte, with `A` to `Z` as `a` to `z`.
    @inlinable package var lowercasedASCII: UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self | 0x20 : self
    }

    /// Whether this is a space or a tab: the optional white space of HTTP (RFC 9110 section 5.6.3).
    @inlinable package var isBlank: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }

    /// Whether this is a letter or a digit of ASCII.
    @inlinable package var isLetterOrDigit: Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(lowercasedASCII) || isDecimalDigit
    }

    @inlinable package var isDecimalDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
}

extension FixedWidthInteger {
    /// Reads decimal digits; nil if there is anything else, such as a sign or white space.
    package init?(decimal text: some StringProtocol) {
        guard !text.isEmpty, text.utf8.allSatisfy(\.isDecimalDigit) else { return nil }
        self.init(text, radix: 10)
    }
}

extension Span<UInt8> {
    /// Returns whether these are the bytes of a text.
    package func isSame(as text: String) -> Bool { isSame(as: text.utf8.span) }

    @usableFromInline package func isSame(as other: Span<UInt8>) -> Bool {
        guard count == other.count else { return false }
        // A token has a thousand bytes, and is compared with the remembered one for each request.
        return unsafe bytes.withUnsafeBytes { these in
            unsafe other.bytes.withUnsafeBytes { those in
                guard let these = these.baseAddress, let those = those.baseAddress else { return true }
                return unsafe memcmp(these, those, other.count) == 0
            }
        }
    }

    /// Returns whether these are the bytes of a text of the same length, when `A` to `Z` are read as `a` to `z`.
    @inlinable package func isEqualIgnoringCase(to text: String) -> Bool {
        // Most texts differ in length, and then no byte is compared; most others are the same also in case.
        count == text.utf8.count && (isSame(as: text.utf8.span) || beginsIgnoringCase(text))
    }

    /// Returns whether they begin with a text, `A` to `Z` read as `a` to `z` in both.
    @inlinable package func beginsIgnoringCase(_ text: String) -> Bool {
        let start = text.utf8.span
        guard count >= start.count else { return false }
        for index in start.indices where self[index].lowercasedASCII != start[index].lowercasedASCII { return false }
        return true
    }

    /// Returns the next place of a byte, at or after an offset; nil if there is none.
    package func next(_ byte: UInt8, from start: Int) -> Int? {
        let (ones, highs) = (0x0101_0101_0101_0101 as UInt64, 0x8080_8080_8080_8080 as UInt64)
        var index = start
        while index &+ 8 <= count {
            // The load is in bounds, and any eight bytes are a number.
            let word = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self)
            let difference = UInt64(littleEndian: word) ^ (ones &* UInt64(byte))
            // The lowest high bit belongs to the first byte that is zero.
            let zeros = (difference &- ones) & ~difference & highs
            if zeros != 0 { return index &+ zeros.trailingZeroBitCount / 8 }
            index &+= 8
        }
        while index < count, self[index] != byte { index &+= 1 }
        return index < count ? index : nil
    }

    /// The number, if the bytes are decimal digits and nothing else; nil also for a number beyond `Int`.
    @inlinable package var decimal: Int? {
        var number = 0
        for index in indices {
            guard self[index].isDecimalDigit else { return nil }
            let (tens, isTooLong) = number.multipliedReportingOverflow(by: 10)
            let (sum, isTooLarge) = tens.addingReportingOverflow(Int(self[index] - UInt8(ascii: "0")))
            guard !isTooLong, !isTooLarge else { return nil }
            number = sum
        }
        return isEmpty ? nil : number
    }

    /// Returns whether one of the bytes matches; it reads all, without an early end, so that it becomes vector code.
    @inline(__always) @inlinable
    package func contains(_ matches: (UInt8) -> Bool) -> Bool {
        var found = false
        // The index is one of the indices; a check of each would prevent vector code.
        for index in indices { found = unsafe matches(self[unchecked: index]) || found }
        return found
    }
}

extension [UInt8] {
    /// The bytes of a text in UTF-8 without the byte-order mark that editors of Windows put before it.
    package var withoutByteOrderMark: ArraySlice<UInt8> { starts(with: [0xEF, 0xBB, 0xBF]) ? dropFirst(3) : self[...] }
}

extension String {
    /// Reads bytes as UTF-8, or else as Latin-1, which old clients send without saying so.
    package init(lenient bytes: [UInt8]) {
        if let text = try? UTF8Span(validating: bytes.span) {
            self.init(copying: text)
        } else {
            self.init(latin1: bytes)
        }
    }

    /// Reads bytes as Latin-1, in which each byte is the number of its character.
    package init(latin1 bytes: [UInt8]) {
        self = String(decoding: bytes.lazy.map { UInt16($0) }, as: UTF16.self)
    }
}

extension BinaryInteger {
    /// Returns the number with its noun: `1 task`, `2 tasks`; `many` is a plural that is not formed with an s.
    package func counted(_ one: String, _ many: String? = nil) -> String {
        self == 1 ? "1 \(one)" : "\(self) \(many ?? one + "s")"
    }
}
