private import OpenSSL

/// Random names.
enum GUID {
    /// A random GUID of version 4, in lower case (RFC 9562 section 5.4).
    static func random() -> String {
        var bytes = SecureRandom.bytes(16)
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        return formatted(bytes)
    }

    private static func formatted(_ bytes: [UInt8]) -> String {
        let hex = Array("0123456789abcdef".utf8)
        var text: [UInt8] = []
        for (index, byte) in bytes.enumerated() {
            if [4, 6, 8, 10].contains(index) { text.append(UInt8(ascii: "-")) }
            text += [hex[Int(byte >> 4)], hex[Int(byte & 15)]]
        }
        return String(decoding: text, as: UTF8.self)
    }
}
