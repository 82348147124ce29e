import Basics

/// Lines of a log as bytes: JSON for machines, or `name=value` for people.
///
/// Every text is escaped and cut (V-131), so that nothing a stranger sent can end a line, colour a terminal or fill
/// a disk.
struct LogText: Sendable {
    enum Format: Sendable { case json, text }

    /// The longest text of a field, in bytes.
    static let longest = 256

    let format: Format
    private(set) var bytes: [UInt8] = []

    init(_ format: Format) {
        self.format = format
    }

    /// Begins a line: when, how important, what.
    mutating func begin(_ level: LogLevel, _ event: StaticString, time: [UInt8]) {
        switch format {
        case .json:
            raw(#"{"time":""#)
            bytes.append(contentsOf: time)
            raw(#"","level":""#)
            raw(level.word)
            raw(#"","event":""#)
            raw(event)
            raw(#"""#)
        case .text:
            // A person at a terminal knows the day.
            bytes.append(contentsOf: time.dropFirst(11).dropLast())
            raw(" ")
            raw(level.word)
            raw(" ")
            raw(event)
        }
    }

    mutating func end() {
        switch format {
        case .json: raw("}\n")
        case .text: raw("\n")
        }
    }

    mutating func number(_ name: StaticString, _ value: Int) {
        begin(field: name)
        digits(value)
    }

    /// A field with a number of 64 bits as hexadecimal digits.
    mutating func hex(_ name: StaticString, _ value: UInt64) {
        begin(field: name)
        if format == .json { raw("\"") }
        bytes.append(hexadecimal: value)
        if format == .json { raw("\"") }
    }

    /// A field with a text, escaped and cut; nothing where there is none.
    mutating func text(_ name: StaticString, _ value: String?, limit: Int = longest) {
        guard let value else { return }
        begin(field: name)
        let isPlain = Self.isPlain(value.utf8.span)
        let quoted = format == .json || !isPlain
        if quoted { raw("\"") }
        if isPlain, value.utf8.count <= limit {
            bytes.append(contentsOf: value.utf8)
        } else {
            append(escaping: value.utf8.span, limit: limit)
        }
        if quoted { raw("\"") }
    }

    mutating func removeAll() -> [UInt8] {
        let all = bytes
        bytes = []
        bytes.reserveCapacity(min(all.count, 1 << 16))
        return all
    }

    private mutating func begin(field name: StaticString) {
        switch format {
        case .json:
            raw(",\"")
            raw(name)
            raw("\":")
        case .text:
            raw(" ")
            raw(name)
            raw("=")
        }
    }

    private mutating func append(escaping text: Span<UInt8>, limit: Int) {
        bytes.append(
            asciiOnly: text.extracting(first: limit), escape: format == .json ? .json : .hexadecimal)
        if text.count > limit { raw("...") }
    }

    private mutating func digits(_ value: Int) {
        if value < 0 { raw("-") }
        let magnitude = value.magnitude
        var scale: UInt = 1
        while magnitude / scale >= 10 { scale *= 10 }
        while scale > 0 {
            bytes.append(UInt8(ascii: "0") + UInt8(magnitude / scale % 10))
            scale /= 10
        }
    }

    private mutating func raw(_ text: StaticString) {
        text.withUTF8Buffer { unsafe bytes.append(contentsOf: $0) }
    }

    private static func isPlain(_ text: Span<UInt8>) -> Bool {
        for index in text.indices where !isPlain(text[index]) { return false }
        return !text.isEmpty
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        byte > 0x20 && byte < 0x7F && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
            && byte != UInt8(ascii: "=")
    }
}
