import Basics
import Support
import Testing
import Tokens

@Suite("Bytes are written as text")
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

@Suite("Base64url has one spelling (V-12, V-13)")
struct Base64URLTests {
    @Test(
        arguments: [
            ("", []), ("Zg", [0x66]), ("Zm8", [0x66, 0x6F]), ("Zm9v", [0x66, 0x6F, 0x6F]), ("_-8", [0xFF, 0xEF]),
        ] as [(String, [UInt8])])
    func `Base64url has known values`(text: String, bytes: [UInt8]) {
        #expect(Base64URL.decode(text) == bytes)
        #expect(Base64URL.encode(bytes) == text)
    }

    @Test func `Every length and byte is decoded as it was encoded`() {
        for count in 0..<70 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ count) }
            #expect(Base64URL.decode(Base64URL.encode(bytes)) == bytes)
        }
        #expect(Base64URL.decode(Base64URL.encode(Array(0...255))) == Array(0...255))
    }

    @Test(arguments: [
        "Zg==", "Zm8=", "Z", "Zm9vY", "Zm9v\n", " Zm9v", "Zm+v", "Zm/v", "Zm.v", "Zm%v", "Zm9v\0", "Zm9\u{F6}",
    ])
    func `Other letters, padding and impossible lengths are refused`(text: String) {
        #expect(Base64URL.decode(text) == nil)
    }

    /// Of the letters that could end a text, only those whose unused bits are zero may.
    @Test func `Unused bits must be zero`() {
        let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
        #expect(letters.filter { Base64URL.decode("Q\($0)") != nil } == "AQgw")
        #expect(letters.filter { Base64URL.decode("QU\($0)") != nil } == "AEIMQUYcgkosw048")
        #expect(letters.filter { Base64URL.decode("QUJ\($0)") != nil } == letters)
    }
}
