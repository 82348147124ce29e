/// The values of an owner claim other than `oid`.
enum OwnerText {
    /// Returns the text if it has 1 to 256 bytes and no control characters.
    static func checked(_ text: String) -> String? {
        guard (1...256).contains(text.utf8.count) else { return nil }
        guard text.unicodeScalars.allSatisfy({ $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) }) else {
            return nil
        }
        return text
    }
}
