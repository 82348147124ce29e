import Basics

/// Lines of a log as bytes: JSON for machines, or `name=value` for people.
///
/// Every text is escaped and cut (V-131), so that nothing a stranger sent can end a line, colour a terminal or fill
/// a disk.
struct LogText: ~Copyable, Sendable {
    enum Format: Sendable { case json, text }

    /// The longest text of a field, in bytes.
    static let longest = 256

    private let format: Format
    private var bytes: ByteWriter
    /// The last moment that was written; of most lines only its milliseconds change.
    private var moment: InlineArray<24, UInt8>
    /// Its second, since 1970.
    private var second: Int64

    init(_ format: Format) {
        self.format = format
        bytes = ByteWriter(capacity: 1024)
        second = 0
        moment = Timestamp(milliseconds: 0).form
    }

    /// In bytes.
    var size: Int { bytes.size }

    /// Moves the lines to the end of an array, and keeps at most `room` bytes of memory for the next ones.
    mutating func drain(to lines: inout [UInt8], keeping room: Int) {
        bytes.copy(to: &lines)
        bytes.removeAll(keeping: room)
    }

    /// Begins a line: when (milliseconds since 1970), how important, what.
    mutating func begin(_ level: LogLevel, _ event: StaticString, at milliseconds: Int64) {
        setMoment(milliseconds)
        switch format {
        case .json:
            raw(#"{"time":""#)
            bytes.append(moment.span)
            bytes.append(#"","level":""#, level.word, #"","event":""#)
            bytes.append("", event, "\"")
        case .text:
            // A person at a terminal knows the day.
            bytes.append(moment.span.extracting(11..<23))
            bytes.append(" ", level.word, " ")
            raw(event)
        }
    }

    /// Sets the text of the moment; within the same second only its milliseconds.
    private mutating func setMoment(_ milliseconds: Int64) {
        let (second, rest) = milliseconds.quotientAndRemainder(flooredBy: 1000)
        if second != self.second {
            self.second = second
            moment = Timestamp(milliseconds: milliseconds).form
        } else {
            let (tens, digit) = UInt16(truncatingIfNeeded: rest).quotientAndRemainder(dividingBy: 10)
            moment[20] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: tens / 10)
            moment[21] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: tens % 10)
            moment[22] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: digit)
        }
    }

    mutating func end() {
        switch format {
        case .json: raw("}\n")
        case .text: byte("\n")
        }
    }

    mutating func number(_ name: StaticString, _ value: Int) {
        begin(field: name, isQuoted: false)
        bytes.append(decimal: value)
    }

    /// A field with a number of 64 bits as hexadecimal digits.
    mutating func hex(_ name: StaticString, _ value: UInt64) {
        begin(field: name, isQuoted: format == .json)
        bytes.append(hexadecimal: value)
        if format == .json { byte("\"") }
    }

    /// A field with a text, escaped and cut; nothing where there is none.
    mutating func text(_ name: StaticString, _ value: String?, limit: Int = longest) {
        guard let value else { return }
        let text = value.utf8.span
        let isPlain = Self.isPlain(text)
        let isQuoted = format == .json || !isPlain
        begin(field: name, isQuoted: isQuoted)
        if isPlain, text.count <= limit {
            bytes.append(text)
        } else {
            append(escaping: text, limit: limit)
        }
        if isQuoted { byte("\"") }
    }

    private mutating func begin(field name: StaticString, isQuoted: Bool) {
        switch format {
        case .json: bytes.append(",\"", name, isQuoted ? "\":\"" : "\":")
        case .text: bytes.append(" ", name, isQuoted ? "=\"" : "=")
        }
    }

    private mutating func append(escaping text: Span<UInt8>, limit: Int) {
        bytes.append(
            asciiOnly: text.extracting(first: limit), escape: format == .json ? .json : .hexadecimal)
        if text.count > limit { raw("...") }
    }

    private mutating func byte(_ character: Unicode.Scalar) {
        bytes.append(UInt8(ascii: character))
    }

    private mutating func raw(_ text: StaticString) {
        bytes.append(text)
    }

    /// Whether a text needs no quotes and no escape; without branches, so that it becomes vector code.
    private static func isPlain(_ text: Span<UInt8>) -> Bool {
        var special: UInt8 = text.isEmpty ? 1 : 0
        for index in text.indices { special |= Self.isSpecial(text[index]) }
        return special == 0
    }

    private static func isSpecial(_ byte: UInt8) -> UInt8 {
        (byte <= 0x20 ? 1 : 0) | (byte >= 0x7F ? 1 : 0) | (byte == UInt8(ascii: "=") ? 1 : 0)
            | (byte == UInt8(ascii: "\"") ? 1 : 0) | (byte == UInt8(ascii: "\\") ? 1 : 0)
    }
}
