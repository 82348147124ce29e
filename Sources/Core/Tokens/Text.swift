/// Comparisons of text by its bytes.
///
/// To Swift's `==` canonically equivalent strings are equal, so one identifier could pass for another; and the texts of
/// tokens are compared code point by code point (RFC 7519 section 7.3).
enum Text {
    /// Whether both have the same UTF-8 bytes.
    static func same(_ a: String, _ b: String) -> Bool {
        a.utf8.elementsEqual(b.utf8)
    }

    /// Whether both have the same bytes when the letters A to Z are folded; nothing else is.
    static func sameIgnoringCase(_ a: String, _ b: String) -> Bool {
        a.utf8.elementsEqual(b.utf8) { lowered($0) == lowered($1) }
    }

    /// The text with the letters A to Z folded.
    static func lowered(_ text: String) -> String {
        String(decoding: text.utf8.map(lowered), as: UTF8.self)
    }

    private static func lowered(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }
}
