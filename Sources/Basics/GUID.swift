/// Identifiers of 128 bits as text (RFC 9562), for owners (V-57) and tenants (V-74).
package enum GUID {
    /// Returns the canonical form, 8-4-4-4-12 hexadecimal digits, in lower case; nil for any other text.
    package static func canonical(_ text: String) -> String? {
        let bytes = text.utf8.span
        guard bytes.count == 36 else { return nil }
        for index in bytes.indices {
            let isDash = index == 8 || index == 13 || index == 18 || index == 23
            guard isDash ? bytes[index] == UInt8(ascii: "-") : bytes[index].hexadecimalValue != nil else { return nil }
        }
        return text.lowercasedASCII
    }

    /// Returns the text of version 4 (section 5.4), in lower case, which replaces six of the random bits.
    package static func version4(random: [UInt8]) -> String {
        precondition(random.count == 16)
        var bytes = random
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        var text: [UInt8] = []
        for (index, byte) in bytes.enumerated() {
            if [4, 6, 8, 10].contains(index) { text.append(UInt8(ascii: "-")) }
            text.append(hexadecimal: byte)
        }
        return String(decoding: text, as: UTF8.self)
    }
}
