import Basics
import JSON
import OpenSSL
import Support
import Testing
import Tokens

@Suite("Hostile tokens neither trap nor verify (V-29, V-47, V-51)", .timeLimit(.minutes(15)))
struct HostileTokenTests {
    /// One to four changes: a byte set, cut out, doubled, or a run moved.
    private func mutated(_ bytes: [UInt8], _ random: inout SeededRandom) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<Int.random(in: 1...4, using: &random) where !bytes.isEmpty {
            let index = Int.random(in: bytes.indices, using: &random)
            switch Int.random(in: 0..<5, using: &random) {
            case 0: bytes[index] = UInt8.random(in: 0...255, using: &random)
            case 1: bytes.remove(at: index)
            case 2: bytes.insert(bytes[index], at: index)
            case 3: bytes[index] = Array("AZaz09-_.=\"{}[]:,\\ue".utf8).randomElement(using: &random) ?? 0
            default: bytes.append(contentsOf: bytes[index...].prefix(8))
            }
        }
        return bytes
    }

    @Test("A changed token is never accepted")
    func changedTokensNeverVerify() throws {
        let verification = try Verification()
        let good = makeToken()
        var random = SeededRandom()
        var refusals: Set<TokenRefusal> = []
        for _ in 0..<20_000 {
            let bytes = mutated(Array(good.utf8), &random)
            let text = String(decoding: bytes, as: UTF8.self)
            guard text != good else { continue }
            let refusal = verification.refusal(of: text)
            #expect(refusal != nil, "verified: \(text)")
            if let refusal { refusals.insert(refusal) }
        }
        // The changes reached every part of the token.
        #expect(
            refusals.isSuperset(of: [.notThreeSegments, .notBase64URL, .headerNotJSON, .unknownKey, .badSignature]))
    }

    /// The signature is good, whatever header and payload are.
    @Test("Verifier and explanation agree about everything that a provider might sign")
    func verifierAndExplanationAgree() throws {
        let verification = try Verification()
        let header = JSONValue.object(TestClaims.header).serialized()
        let payload = JSONValue.object(TestClaims.good).serialized()
        var random = SeededRandom()
        var refusals: Set<TokenRefusal> = []
        for round in 0..<1_000 {
            let inHeader = round % 4 == 0
            let token = makeToken(
                payload: inHeader ? payload : mutated(payload, &random),
                header: inHeader ? mutated(header, &random) : header)
            let refusal = verification.refusal(of: token)
            #expect(verification.explanation(of: token).refusal == refusal)
            if let refusal { refusals.insert(refusal) }
        }
        #expect(refusals.count > 8)
    }

    @Test("Changed metadata and key sets do not trap")
    func changedDocumentsDoNotTrap() {
        let documents: [JSONObject] = [
            [
                "keys": [
                    ["kid": "a", "kty": "RSA", "n": .string(Base64URL.encode(SigningKey.shared.modulus)), "e": "AQAB"]
                ]
            ],
            ProviderMetadataTests.good,
        ]
        let rules = MetadataRules(metadataURL: "https://contoso.b2clogin.com/")
        var random = SeededRandom()
        var broken = 0
        for round in 0..<4_000 {
            let bytes = mutated(JSONValue.object(documents[round % 2]).serialized(), &random)
            let keys = try? KeySetDocument(parsing: bytes)
            let metadata = try? ProviderMetadata(parsing: bytes)
            _ = try? metadata?.check(against: rules)
            if keys == nil, metadata == nil { broken += 1 }
        }
        #expect(broken > 100)
    }
}
