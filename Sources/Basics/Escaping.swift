/// The inside of a JSON string, with only those escapes that RFC 8259 section 7 requires.
///
/// Most texts need no escape; they are kept as they are and copied whole.
package enum JSONEscapedText {
    case plain(String)
    case escaped([UInt8])

    package init(_ text: String) {
        self = text.utf8.span.contains(Self.needsEscape) ? .escaped(Self.escape(text)) : .plain(text)
    }

    /// The length in bytes.
    package var count: Int {
        switch self {
        case .plain(let text): text.utf8.count
        case .escaped(let escaped): escaped.count
        }
    }

    package func append(to bytes: inout [UInt8]) {
        switch self {
        case .plain(let text): bytes.append(contentsOf: text.utf8)
        case .escaped(let escaped): bytes.append(contentsOf: escaped)
        }
    }

    private static func needsEscape(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    private static func escape(_ text: String) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count + 16)
        for byte in text.utf8 {
            if needsEscape(byte) { append(escaped: byte, to: &bytes) } else { bytes.append(byte) }
        }
        return bytes
    }

    private static func append(escaped byte: UInt8, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\\"))
        switch byte {
        case 0x08: bytes.append(UInt8(ascii: "b"))
        case 0x09: bytes.append(UInt8(ascii: "t"))
        case 0x0A: bytes.append(UInt8(ascii: "n"))
        case 0x0C: bytes.append(UInt8(ascii: "f"))
        case 0x0D: bytes.append(UInt8(ascii: "r"))
        case 0..<0x20:
            bytes.append(contentsOf: "u00".utf8)
            bytes.append(hexadecimal: byte)
        default: bytes.append(byte)
        }
    }
}
