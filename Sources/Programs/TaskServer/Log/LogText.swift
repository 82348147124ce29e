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
    private var bytes = ByteWriter(capacity: 512)

    /// Begins a line: how important it is, what happened, and when, in milliseconds since 1970.
    init(_ format: Format, _ level: LogLevel, _ event: StaticString, at milliseconds: Int64) {
        self.format = format
        let moment = Timestamp(milliseconds: milliseconds).form
        let word = level.rawValue
        switch format {
        case .json:
            bytes.append(#"{"time":""#)
            bytes.append(moment.span)
            bytes.append(#"","level":""#)
            bytes.append(word.utf8.span)
            bytes.append(#"","event":""#)
            bytes.append(event)
            bytes.append("\"")
        case .text:
            // A person at a terminal knows the day.
            bytes.append(moment.span.extracting(11..<23))
            bytes.append(" ")
            bytes.append(word.utf8.span)
            bytes.append(" ")
            bytes.append(event)
        }
    }

    mutating func end() {
        bytes.append(format == .json ? "}\n" : "\n")
    }

    /// Appends the line to others.
    func copy(to lines: inout [UInt8]) { bytes.copy(to: &lines) }

    mutating func number(_ name: StaticString, _ value: Int) {
        begin(field: name, isQuoted: false)
        bytes.append(decimal: value)
    }

    /// A field with a number of 64 bits as hexadecimal digits.
    mutating func hex(_ name: StaticString, _ value: UInt64) {
        begin(field: name, isQuoted: format == .json)
        bytes.append(hexadecimal: value)
        if format == .json { bytes.append("\"") }
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
        if isQuoted { bytes.append("\"") }
    }

    private mutating func begin(field name: StaticString, isQuoted: Bool) {
        bytes.append(format == .json ? ",\"" : " ")
        bytes.append(name)
        switch format {
        case .json: bytes.append(isQuoted ? "\":\"" : "\":")
        case .text: bytes.append(isQuoted ? "=\"" : "=")
        }
    }

    /// Appends printable ASCII, with a backslash before a quote or a backslash, and escapes every other byte by itself.
    private mutating func append(escaping text: Span<UInt8>, limit: Int) {
        var escaped: [UInt8] = []
        for index in text.indices.prefix(limit) {
            let byte = text[index]
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): escaped += [UInt8(ascii: "\\"), byte]
            case 0x20..<0x7F: escaped.append(byte)
            default:
                escaped.append(contentsOf: (format == .json ? "\\u00" : "\\x").utf8)
                escaped.append(hexadecimal: byte)
            }
        }
        bytes.append(escaped.span)
        if text.count > limit { bytes.append("...") }
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
