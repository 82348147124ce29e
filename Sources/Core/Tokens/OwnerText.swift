/// The forms that the value of the owner claim may have.
enum OwnerText {
    /// A GUID in its canonical form, 8-4-4-4-12 hexadecimal digits, folded to lower case; nothing for anything else.
    static func guid(_ text: String) -> String? {
        guard text.utf8.count == 36 else { return nil }
        for (index, byte) in text.utf8.enumerated() {
            let isDash = index == 8 || index == 13 || index == 18 || index == 23
            guard isDash ? byte == UInt8(ascii: "-") : isHexadecimal(byte) else { return nil }
        }
        return Text.lowered(text)
    }

    /// 1 to 256 bytes without control characters, as they are; nothing for anything else.
    static func other(_ text: String) -> String? {
        guard (1...256).contains(text.utf8.count) else { return nil }
        guard text.unicodeScalars.allSatisfy({ $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) }) else {
            return nil
        }
        return text
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
