/// The forms that the value of the owner claim may have.
enum OwnerText {
    /// 1 to 256 bytes without control characters, as they are; nothing for anything else.
    static func other(_ text: String) -> String? {
        guard (1...256).contains(text.utf8.count) else { return nil }
        guard text.unicodeScalars.allSatisfy({ $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) }) else {
            return nil
        }
        return text
    }
}
