/// GUIDs: of owners (V-57) and of tenants (V-74).
package enum GUID {
    /// The canonical form, 8-4-4-4-12 hexadecimal digits, in lower case; nothing for any other text.
    package static func canonical(_ text: String) -> String? {
        guard text.utf8.count == 36 else { return nil }
        for (index, byte) in text.utf8.enumerated() {
            let isDash = index == 8 || index == 13 || index == 18 || index == 23
            guard isDash ? byte == UInt8(ascii: "-") : isHexadecimal(byte) else { return nil }
        }
        return Text.lowered(text)
    }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
            UInt8(ascii: "A")...UInt8(ascii: "F"):
            true
        default: false
        }
    }
}
