import Support
import Testing
import Tokens

@Suite("A token has the compact form (V-07, V-10 to V-16)")
struct CompactTokenTests {
    private func refusal(_ text: String) -> TokenRefusal? {
        thrown { () throws(TokenRefusal) in _ = try CompactToken(text) }
    }

    @Test func `The parts are decoded, and the signature covers the received bytes (V-14)`() throws {
        let token = try CompactToken("eyB9.Zm9v.AQID")
        #expect(token.header == Array("{ }".utf8))
        #expect(token.payload == Array("foo".utf8))
        #expect(token.signature == [1, 2, 3])
        #expect(Array(token.signingInput) == Array("eyB9.Zm9v".utf8))
        #expect(token.bytes == Array("eyB9.Zm9v.AQID".utf8))
    }

    @Test func `The lengths of the token and its parts are limited (V-07)`() {
        let part = String(repeating: "A", count: CompactToken.longest - 6)
        #expect(refusal("Zg.Zg.\(part)") == nil)
        #expect(refusal("Zg.Zg.\(part)A") == .tooLong)
        #expect(refusal(String(repeating: ".", count: 16_385)) == .tooLong)
        // The header has a limit of its own: 2 KiB decoded.
        #expect(refusal("\(String(repeating: "A", count: 2732)).Zg.Zg") == .tooLong)
        #expect(refusal("Zg.Zg.Zg") == nil)
    }

    @Test func `The cost of a refusal for length does not grow with the length (V-07)`() {
        let long = String(decoding: [UInt8](repeating: 0x41, count: 1 << 24), as: UTF8.self)
        let time = processorTime {
            for _ in 0..<100 where refusal(long) != .tooLong {
                Issue.record("a token of 16 MiB was accepted")
            }
        }
        // Decoding 1.6 GB would take a minute.
        #expect(time < .seconds(10))
    }
}
