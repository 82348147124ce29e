import Basics

/// Goes through one JSON text, checks every byte of it once, and says where its values are (RFC 8259).
///
/// The scanner is strict: it takes UTF-8 only, no lone surrogates, and no number beyond 64 bits.
struct JSONScanner {
    let text: [UInt8]
    private let limits: JSONLimits
    private var offset = 0
    private var depth = 0
    private var values = 1

    /// Creates a scanner that stands before the first value, perhaps after a byte-order mark.
    init(_ text: [UInt8], _ limits: JSONLimits, allowsMark: Bool = false) throws(JSONError) {
        guard text.count <= limits.bytes else { throw .tooLong }
        self.text = text
        self.limits = limits
        if allowsMark { offset = text.count - text.withoutByteOrderMark.count }
        skipBlanks()
    }

    /// The next byte, or 0 at the end; no JSON text contains a 0.
    var next: UInt8 { offset < text.count ? text[offset] : 0 }

    private func failure(_ reason: String) -> JSONError { .malformed(reason: reason, offset: offset) }

    private mutating func skipBlanks() {
        while offset < text.count, Self.isBlank(text[offset]) { offset += 1 }
    }

    private static func isBlank(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r")
            || byte == UInt8(ascii: "\t")
    }

    /// Checks that nothing follows the value.
    mutating func finish() throws(JSONError) {
        skipBlanks()
        guard offset == text.count else { throw failure("something follows the value") }
    }
}

// Arrays and objects.
extension JSONScanner {
    /// Passes the bracket that opens an array or an object.
    mutating func open() throws(JSONError) {
        offset += 1
        depth += 1
        guard depth <= limits.depth else { throw .tooDeep }
        try countValue()
        skipBlanks()
    }

    private mutating func countValue() throws(JSONError) {
        values += 1
        guard values <= limits.values else { throw .tooLong }
    }

    /// Goes to the next element of an array; at the end, passes the bracket and returns false.
    mutating func findElement(isFirst: Bool) throws(JSONError) -> Bool { try find(UInt8(ascii: "]"), isFirst) }

    /// Goes to the next value of an object and returns its name; at the end, passes the brace and returns nil.
    mutating func findMember(isFirst: Bool) throws(JSONError) -> JSONName? {
        guard try find(UInt8(ascii: "}"), isFirst) else { return nil }
        guard next == UInt8(ascii: "\"") else { throw failure("a name is missing") }
        let name = JSONName(try string(), in: text)
        // Some readers end a name at a NUL.
        if name.string.kind == .escapedString, name.string.string(in: text).containsNUL {
            throw failure("NUL in a name")
        }
        skipBlanks()
        guard next == UInt8(ascii: ":") else { throw failure("a colon is missing") }
        offset += 1
        skipBlanks()
        return name
    }

    private mutating func find(_ end: UInt8, _ isFirst: Bool) throws(JSONError) -> Bool {
        skipBlanks()
        if next == end {
            offset += 1
            depth -= 1
            return false
        }
        guard !isFirst else { return true }
        guard next == UInt8(ascii: ",") else { throw failure("a comma or an end is missing") }
        offset += 1
        try countValue()
        skipBlanks()
        guard next != end else { throw failure("a value is missing") }
        return true
    }

    /// Refuses the names of an object if two are the same after their escapes are resolved.
    func checkUnique(_ names: [JSONName]) throws(JSONError) {
        // For few names, comparing each with each is the least work.
        guard names.count > 32 else {
            for index in names.indices {
                for other in 0..<index where names[index].isSame(as: names[other], in: text) {
                    throw failure("a name is repeated")
                }
            }
            return
        }
        var known: Set<[UInt8]> = []
        for name in names where !known.insert(Array(name.string.string(in: text).utf8)).inserted {
            throw failure("a name is repeated")
        }
    }
}

// Strings, numbers and words.
extension JSONScanner {
    /// Passes a value that is no array and no object.
    mutating func scalar() throws(JSONError) -> JSONScalar {
        switch next {
        case UInt8(ascii: "\""): try string()
        case UInt8(ascii: "t"): try word("true", .true)
        case UInt8(ascii: "f"): try word("false", .false)
        case UInt8(ascii: "n"): try word("null", .null)
        default: try number()
        }
    }

    private mutating func word(_ word: StaticString, _ kind: JSONScalar.Kind) throws(JSONError) -> JSONScalar {
        let start = offset
        let isWord = word.withUTF8Buffer { word in
            unsafe text.count - start >= word.count && word.elementsEqual(text[start..<start + word.count])
        }
        guard isWord else { throw failure("no value") }
        offset += word.utf8CodeUnitCount
        return JSONScalar(kind: kind, start: start, end: offset)
    }

    /// Passes a string and checks its bytes and escapes.
    private mutating func string() throws(JSONError) -> JSONScalar {
        let start = offset + 1
        var isASCII = true
        var kind = JSONScalar.Kind.plainString
        offset = start
        while true {
            offset = text.span.nextSpecial(from: offset)
            switch next {
            case UInt8(ascii: "\""):
                let string = JSONScalar(kind: kind, start: start, end: offset)
                guard isASCII || isUTF8(string) else { throw failure("not UTF-8") }
                offset += 1
                return string
            case UInt8(ascii: "\\"):
                kind = .escapedString
                offset += 1
                offset += try escape()
            case 0x80...:
                isASCII = false
                offset += 1
            default:
                throw failure(offset < text.count ? "a control character in a string" : "a string has no end")
            }
        }
    }

    private func isUTF8(_ string: JSONScalar) -> Bool {
        (try? UTF8Span(validating: text.span.extracting(string.start..<string.end))) != nil
    }

    /// Returns the length of the escape whose letter is next, or of two escapes that are the halves of one character.
    private func escape() throws(JSONError) -> Int {
        switch next {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            return 1
        case UInt8(ascii: "u"):
            guard let unit = unit(at: offset + 1) else { throw failure("no escape") }
            guard UTF16.isLeadSurrogate(unit) || UTF16.isTrailSurrogate(unit) else { return 5 }
            guard UTF16.isLeadSurrogate(unit), text.count > offset + 6, text[offset + 5] == UInt8(ascii: "\\"),
                text[offset + 6] == UInt8(ascii: "u"), let second = self.unit(at: offset + 7),
                UTF16.isTrailSurrogate(second)
            else { throw failure("half a character") }
            return 11
        default: throw failure("no escape")
        }
    }

    private func unit(at start: Int) -> UInt16? {
        guard text.count >= start + 4 else { return nil }
        var unit: UInt16 = 0
        for index in start..<start + 4 {
            guard let digit = text[index].hexadecimalValue else { return nil }
            unit = unit << 4 | UInt16(digit)
        }
        return unit
    }

    /// Passes a number and checks that it fits.
    private mutating func number() throws(JSONError) -> JSONScalar {
        let start = offset
        if next == UInt8(ascii: "-") { offset += 1 }
        let first = offset
        try digits()
        guard text[first] != UInt8(ascii: "0") || offset == first + 1 else { throw failure("a leading zero") }
        var kind = JSONScalar.Kind.integer
        if next == UInt8(ascii: ".") {
            kind = .real
            offset += 1
            try digits()
        }
        if next | 0x20 == UInt8(ascii: "e") {
            kind = .real
            offset += 1
            if next == UInt8(ascii: "+") || next == UInt8(ascii: "-") { offset += 1 }
            try digits()
        }
        let number = JSONScalar(kind: kind, start: start, end: offset)
        // A number of up to 18 digits always fits.
        guard kind == .integer && number.count <= 18 || fits(number) else { throw failure("a number out of range") }
        return number
    }

    private mutating func digits() throws(JSONError) {
        let start = offset
        while next.isDecimalDigit { offset += 1 }
        guard offset > start else { throw failure("no value") }
    }

    private func fits(_ number: JSONScalar) -> Bool {
        let digits = String(decoding: text[number.start..<number.end], as: UTF8.self)
        return number.kind == .integer ? Int64(digits) != nil : Double(digits)?.isFinite ?? false
    }
}

extension Span<UInt8> {
    /// Returns the index of the next byte that is a quote, an escape, a control character or not ASCII, or the end.
    fileprivate func nextSpecial(from start: Int) -> Int {
        let (ones, highs) = (0x0101_0101_0101_0101 as UInt64, 0x8080_8080_8080_8080 as UInt64)
        var index = start
        while index &+ 8 <= count {
            // The load is in bounds, and any eight bytes are a number.
            let loaded = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self)
            let word = UInt64(littleEndian: loaded)
            let (quote, escape) = (word ^ ones &* 0x22, word ^ ones &* 0x5C)
            let special = (quote &- ones) & ~quote | (escape &- ones) & ~escape | (word &- ones &* 0x20) & ~word | word
            // The lowest high bit belongs to the first special byte.
            guard special & highs == 0 else { return index &+ (special & highs).trailingZeroBitCount / 8 }
            index &+= 8
        }
        while index < count, (0x20..<0x80).contains(self[index]), self[index] != 0x22, self[index] != 0x5C {
            index &+= 1
        }
        return index
    }
}
