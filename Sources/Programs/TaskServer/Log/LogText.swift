import Basics

/// A line of a log as bytes: JSON for machines, or `name=value` for people.
///
/// Every text is escaped and cut (V-131), so that nothing a stranger sent can end a line, colour a terminal or fill
/// a disk.
struct LogText: ~Copyable {
    enum Format: Sendable { case json, text }

    /// The longest text of a field, in bytes.
    static let longest = 256

    private let format: Format
    private(set) var bytes: ByteWriter

    /// Begins a line: when (milliseconds since 1970), how important, what.
    init(_ format: Format, _ level: LogLevel, _ event: StaticString, at milliseconds: Int64) {
        self.format = format
        // Enough for most lines.
        bytes = ByteWriter(capacity: 480)
        let time = Timestamp(milliseconds: milliseconds)
        switch format {
        case .json:
            raw(#"{"time":""#)
            time.append(to: &bytes)
            raw(#"","level":""#)
            raw(level.word)
            raw(#"","event":""#)
            raw(event)
            byte("\"")
        case .text:
            // A person at a terminal knows the day.
            bytes.append(time.text.utf8.dropFirst(11).dropLast().span)
            byte(" ")
            raw(level.word)
            byte(" ")
            raw(event)
        }
    }

    mutating func end() {
        switch format {
        case .json: raw("}\n")
        case .text: byte("\n")
        }
    }

    mutating func number(_ name: StaticString, _ value: Int) {
        begin(field: name)
        bytes.append(decimal: value)
    }

    /// A field with a number of 64 bits as hexadecimal digits.
    mutating func hex(_ name: StaticString, _ value: UInt64) {
        begin(field: name)
        if format == .json { byte("\"") }
        bytes.append(hexadecimal: value)
        if format == .json { byte("\"") }
    }

    /// A field with a text, escaped and cut; nothing where there is none.
    mutating func text(_ name: StaticString, _ value: String?, limit: Int = longest) {
        guard let value else { return }
        begin(field: name)
        let isPlain = Self.isPlain(value.utf8.span)
        let quoted = format == .json || !isPlain
        if quoted { byte("\"") }
        if isPlain, value.utf8.count <= limit {
            bytes.append(value.utf8.span)
        } else {
            append(escaping: value.utf8.span, limit: limit)
        }
        if quoted { byte("\"") }
    }

    private mutating func begin(field name: StaticString) {
        switch format {
        case .json:
            byte(",")
            byte("\"")
            raw(name)
            byte("\"")
            byte(":")
        case .text:
            byte(" ")
            raw(name)
            byte("=")
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
