import Basics

/// The distinguished encoding of ASN.1 (X.690), as much of it as certificates need.
enum DER {
    /// One element: tag, length, content.
    static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        [tag] + length(content.count) + content
    }

    static func sequence(_ parts: [UInt8]...) -> [UInt8] {
        element(0x30, parts.flatMap { $0 })
    }

    /// A non-negative integer: a leading zero keeps it from being read as a negative one.
    static func integer(_ magnitude: [UInt8]) -> [UInt8] {
        element(0x02, (magnitude.first ?? 0) & 0x80 == 0 ? magnitude : [0] + magnitude)
    }

    static func octets(_ content: [UInt8]) -> [UInt8] { element(0x04, content) }

    static func bits(_ content: [UInt8], unused: UInt8 = 0) -> [UInt8] { element(0x03, [unused] + content) }

    static func text(_ text: String) -> [UInt8] { element(0x0C, Array(text.utf8)) }

    static let null: [UInt8] = [0x05, 0x00]
    static let yes: [UInt8] = [0x01, 0x01, 0xFF]

    /// An object identifier.
    static func identifier(_ arcs: Int...) -> [UInt8] {
        let first = arcs[0] * 40 + arcs[1]
        return element(0x06, ([first] + arcs.dropFirst(2)).flatMap(base128))
    }

    private static func base128(_ number: Int) -> [UInt8] {
        var bytes = [UInt8(number & 0x7F)]
        var rest = number >> 7
        while rest > 0 {
            bytes.insert(UInt8(rest & 0x7F) | 0x80, at: 0)
            rest >>= 7
        }
        return bytes
    }

    private static func length(_ count: Int) -> [UInt8] {
        if count < 0x80 { return [UInt8(count)] }
        let octets = count < 0x100 ? [UInt8(count)] : [UInt8(count >> 8), UInt8(count & 0xFF)]
        return [0x80 | UInt8(octets.count)] + octets
    }

    /// A time of the years 2000 to 2049 (RFC 5280 section 4.1.2.5.1): `YYMMDDHHMMSSZ`.
    static func time(_ seconds: Int64) -> [UInt8] {
        let digits = Timestamp.b2cText(seconds: seconds).utf8.filter {
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
        }
        return element(0x17, digits.dropFirst(2) + [UInt8(ascii: "Z")])
    }

    /// The text form of RFC 7468.
    static func pem(_ label: String, _ bytes: [UInt8]) -> String {
        let digits = Array(Base64.encode(bytes).utf8)
        let lines = stride(from: 0, to: digits.count, by: 64).map { start in
            String(decoding: digits[start..<min(start + 64, digits.count)], as: UTF8.self)
        }
        return (["-----BEGIN \(label)-----"] + lines + ["-----END \(label)-----"]).joined(separator: "\n") + "\n"
    }
}
