import Basics
import JSON
import OpenSSL
import Support
import Testing
import Tokens

@Suite("Hostile tokens: nothing traps, nothing forged verifies (V-29, V-47, V-51)")
struct HostileTokenTests {
    /// SplitMix64: the same tokens in every run.
    struct SeededGenerator: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var z = state
            z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
            z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
            return z ^ (z >> 31)
        }
    }

    /// One to four changes: a byte set, cut out, doubled, or a run moved.
    private func mutated(_ bytes: [UInt8], _ generator: inout SeededGenerator) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<Int.random(in: 1...4, using: &generator) where !bytes.isEmpty {
            let index = Int.random(in: bytes.indices, using: &generator)
            switch Int.random(in: 0..<5, using: &generator) {
            case 0: bytes[index] = UInt8.random(in: 0...255, using: &generator)
            case 1: bytes.remove(at: index)
            case 2: bytes.insert(bytes[index], at: index)
            case 3: bytes[index] = Array("AZaz09-_.=\"{}[]:,\\ue".utf8).randomElement(using: &generator) ?? 0
            default: bytes.append(contentsOf: bytes[index...].prefix(8))
            }
        }
        return bytes
    }

    @Test func changedTokensNeverVerify() throws {
        let verification = try Verification()
        let good = makeToken()
        var generator = SeededGenerator(state: 1)
        var refusals: Set<TokenRefusal> = []
        for _ in 0..<20_000 {
            let bytes = mutated(Array(good.utf8), &generator)
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

    /// A provider gone mad signs what it likes: whatever the answer, verifier and explanation agree, and none traps.
    @Test func signedNonsenseIsJudgedAlikeByAll() throws {
        let verification = try Verification()
        let header = JSONValue.object(TestClaims.header).serialized()
        let payload = JSONValue.object(TestClaims.good).serialized()
        var generator = SeededGenerator(state: 2)
        var refusals: Set<TokenRefusal> = []
        for round in 0..<3_000 {
            let inHeader = round % 4 == 0
            let token = makeToken(
                payload: inHeader ? payload : mutated(payload, &generator),
                header: inHeader ? mutated(header, &generator) : header)
            let refusal = verification.refusal(of: token)
            #expect(verification.explanation(of: token).refusal == refusal)
            if let refusal { refusals.insert(refusal) }
        }
        #expect(refusals.count > 8)
    }

    @Test func documentsOfNonsenseDoNotTrap() {
        let documents: [JSONObject] = [
            [
                "keys": [
                    ["kid": "a", "kty": "RSA", "n": .string(Base64URL.encode(SigningKey.shared.modulus)), "e": "AQAB"]
                ]
            ],
            ProviderMetadataTests.good,
        ]
        let rules = MetadataRules(metadataURL: "https://contoso.b2clogin.com/")
        var generator = SeededGenerator(state: 3)
        var broken = 0
        for round in 0..<4_000 {
            let bytes = mutated(JSONValue.object(documents[round % 2]).serialized(), &generator)
            let keys = try? KeySetDocument(parsing: bytes)
            let metadata = try? ProviderMetadata(parsing: bytes)
            try? metadata?.check(against: rules)
            if keys == nil, metadata == nil { broken += 1 }
        }
        #expect(broken > 100)
    }

    /// V-29: no answer depends on an earlier one.
    @Test func answersDoNotDependOnOrderOrCompany() async throws {
        let verification = try Verification()
        let tokens = [
            makeToken(), makeToken(key: SigningKey.other), makeToken(header: TestClaims.header.with("kid", "x")),
            makeToken(claims: TestClaims.good.with("exp", 1)), makeToken(header: TestClaims.header.with("alg", "none")),
            makeToken(claims: TestClaims.good.with("tfp", "b2c_1_reset")), "", "a.b.c",
        ]
        let expected = tokens.map(verification.refusal)
        #expect(Set(expected.map { $0?.code }).count == tokens.count)
        let answers = await withTaskGroup(of: [TokenRefusal?].self) { group in
            for turn in 0..<16 {
                group.addTask {
                    var generator = SeededGenerator(state: UInt64(turn))
                    var answers = [TokenRefusal?](repeating: nil, count: tokens.count)
                    for index in (Array(tokens.indices) + Array(tokens.indices)).shuffled(using: &generator) {
                        answers[index] = verification.refusal(of: tokens[index])
                    }
                    return answers
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(answers.allSatisfy { $0 == expected })
    }
}
