import Support
import Testing
import Tokens

@Suite("The compact form (V-07, V-10 to V-16)")
struct CompactTokenTests {
    private func refusal(_ text: String) -> TokenRefusal? {
        do throws(TokenRefusal) {
            _ = try CompactToken(text)
            return nil
        } catch {
            return error
        }
    }

    @Test func partsAreDecodedAndTheInputIsAsReceived() throws {
        let token = try CompactToken("eyB9.Zm9v.AQID")
        #expect(token.header == Array("{ }".utf8))
        #expect(token.payload == Array("foo".utf8))
        #expect(token.signature == [1, 2, 3])
        #expect(Array(token.signingInput) == Array("eyB9.Zm9v".utf8))
        #expect(token.bytes == Array("eyB9.Zm9v.AQID".utf8))
    }

    @Test(arguments: [
        "", ".", "..", "...", "Zg", "Zg.Zg", "Zg.Zg.", ".Zg.Zg", "Zg..Zg", "Zg.Zg.Zg.Zg", "Zg.Zg.Zg.",
        ".Zg.Zg.Zg", "Zg.Zg.Zg.Zg.Zg", String(repeating: ".", count: 8192),
    ])
    func notThreeParts(text: String) {
        #expect(refusal(text) == .notThreeSegments)
    }

    /// V-16: the flattened JSON serialisation.
    @Test func jsonSerialisationIsRefused() {
        #expect(refusal(#"{"protected":"Zg","payload":"Zg","signature":"Zg"}"#) == .notThreeSegments)
    }

    @Test(arguments: [
        "Zg==.Zg.Zg", "Zg.Zg==.Zg", "Zg.Zg.Zg==", "Zh.Zg.Zg", "Zg.Zh.Zg", "Zg.Zg.Zh", "Z.Zg.Zg", "Zg .Zg.Zg",
    ])
    func everyPartIsCanonical(text: String) {
        #expect(refusal(text) == .notBase64URL)
    }

    /// V-13: another spelling of the signature is another token, though it stands for the same bytes.
    @Test func aSecondSpellingOfAGoodTokenIsRefused() throws {
        let verification = try Verification()
        let token = makeToken()
        #expect(verification.refusal(of: token) == nil)
        let last = try #require(token.last)
        let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
        let index = try #require(letters.firstIndex(of: last))
        #expect(verification.refusal(of: token.dropLast() + String(letters[index ^ 1])) == .notBase64URL)
        #expect(verification.refusal(of: token + "=") == .notBase64URL)
        #expect(verification.refusal(of: token + " ") == .notBase64URL)
    }

    @Test func lengthHasACap() {
        let part = String(repeating: "A", count: CompactToken.longest - 6)
        #expect(refusal("Zg.Zg.\(part)") == nil)
        #expect(refusal("Zg.Zg.\(part)A") == .tooLong)
        #expect(refusal(String(repeating: ".", count: 8193)) == .tooLong)
        // Header and payload have caps of their own: 2 KiB and 6 KiB decoded.
        #expect(refusal("\(String(repeating: "A", count: 2732)).Zg.Zg") == .tooLong)
        #expect(refusal("Zg.Zg.Zg") == nil)
    }

    /// V-07: the cost does not grow with what is refused for its length.
    @Test func overlongTokensCostNothing() {
        let long = String(repeating: "A", count: 1 << 24)
        let clock = ContinuousClock()
        let time = clock.measure {
            for _ in 0..<1000 where refusal(long) != .tooLong {
                Issue.record("a token of 16 MiB was taken")
            }
        }
        #expect(time < .seconds(1))
    }
}
