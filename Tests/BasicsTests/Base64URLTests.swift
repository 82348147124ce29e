import Basics
import Support
import Testing
import Tokens

@Suite("Base64url has one spelling (V-12, V-13)", .timeLimit(.minutes(15)))
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
