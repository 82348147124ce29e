import Basics
import Testing

@Suite("Bytes are written as text", .timeLimit(.minutes(15)))
struct EncodingTests {
    @Test(arguments: [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
        ("foobar", "Zm9vYmFy"),
    ])
    func `Base64 has the test vectors of RFC 4648 section 10`(text: String, encoded: String) {
        #expect(Base64.encode(Array(text.utf8)) == encoded)
        #expect(Base64.decodeLenient(encoded) == Array(text.utf8))
        #expect(Base64.decodeLenient(encoded.filter { $0 != "=" }) == Array(text.utf8))
    }

    @Test func `Base64 is read in both alphabets, and other letters are refused`() {
        #expect(Base64.encode([0xFB, 0xFF]) == "+/8=" && Base64URL.encode([0xFB, 0xFF]) == "-_8")
        #expect(Base64.decodeLenient("+/8=") == [0xFB, 0xFF] && Base64.decodeLenient("-_8") == [0xFB, 0xFF])
        #expect(Base64.decodeLenient("-/9") == [0xFB, 0xFF] && Base64URL.decode("-_9") == nil)
        #expect(Base64.decodeLenient("a.b") == nil && Base64.decodeLenient("\u{E9}") == nil)
        #expect(Base64URL.decode("+/8") == nil)
    }

    @Test func `Everything but unreserved characters is percent-encoded`() {
        #expect(PercentEncoding.encode("aZ09-._~") == "aZ09-._~")
        #expect(PercentEncoding.encode("a b/\u{E9}+") == "a%20b%2F%C3%A9%2B")
        #expect(PercentEncoding.encode("/\u{E9}", .lower) == "%2f%c3%a9")
    }

    @Test func `Hexadecimal digits are two for a byte and sixteen for a number`() {
        #expect(String(hexadecimal: [0x00, 0x9A, 0xFF]) == "009aff")
        #expect(UInt64(0xABC).hexadecimal == "0000000000000abc")
        for byte in UInt8.min...UInt8.max {
            let digits = Array(String(hexadecimal: [byte]).utf8)
            let upper = digits.map { $0 >= 0x61 ? $0 - 0x20 : $0 }
            for pair in [digits, upper] {
                #expect(pair.compactMap(\.hexadecimalValue).reduce(0) { $0 << 4 | $1 } == byte)
            }
        }
        #expect(UInt8(ascii: "g").hexadecimalValue == nil && UInt8(ascii: ":").hexadecimalValue == nil)
    }

    @Test func `A text inside of JSON has only the escapes that RFC 8259 requires`() {
        let text = "\u{E9}/\"\\\u{8}\t\n\u{C}\r\u{1}\u{1f}\u{7f}"
        var bytes: [UInt8] = []
        JSONEscapedText(text).append(to: &bytes)
        #expect(String(decoding: bytes, as: UTF8.self) == "\u{E9}" + #"/\"\\\b\t\n\f\r\u0001\u001f"# + "\u{7f}")
        #expect(JSONEscapedText(text).count == bytes.count && JSONEscapedText("\u{E9}").count == 2)
    }
}
