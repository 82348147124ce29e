import JSON
import Support
import Testing
import Tokens

@Suite("The explanation of a token agrees with the verifier, and goes on")
struct TokenExplanationTests {
    let verification: Verification

    init() throws {
        verification = try Verification()
    }

    private func failures(_ explanation: TokenExplanation) -> [TokenCheck] {
        explanation.findings.filter { if case .failed = $0.verdict { true } else { false } }.map(\.check)
    }

    @Test func aGoodTokenPassesEveryCheck() {
        let explanation = verification.explanation(of: makeToken())
        #expect(explanation.findings.map(\.check) == TokenCheck.allCases)
        #expect(explanation.findings.allSatisfy { $0.verdict == .passed })
        #expect(explanation.refusal == nil)
    }

    @Test func allThatIsWrongIsSaid() {
        var claims = TestClaims.good
        claims["exp"] = 1
        claims["aud"] = "other"
        claims["oid"] = nil
        let explanation = verification.explanation(of: makeToken(claims: claims, key: SigningKey.other))
        #expect(failures(explanation) == [.signature, .expiry, .notBefore, .audience, .owner])
        #expect(explanation.refusal == .badSignature)
        #expect(explanation.findings.first { $0.check == .audience }?.evidence == #""aud":"other""#)
    }

    @Test func theHeaderIsJudgedByEachRule() {
        let header: JSONObject = ["alg": "none", "typ": "x", "crit": [], "zip": "DEF"]
        let explanation = verification.explanation(of: makeToken(header: header))
        #expect(failures(explanation) == [.algorithm, .type, .critical, .unsupported, .keyIdentifier])
        #expect(explanation.findings.filter { $0.verdict == .skipped }.map(\.check) == [.key, .signature])
        #expect(explanation.refusal == .wrongAlgorithm)
    }

    @Test func anUnknownKeyLeavesTheClaimsToBeJudged() {
        let explanation = verification.explanation(of: makeToken(header: TestClaims.header.with("kid", "other")))
        #expect(failures(explanation) == [.key])
        #expect(explanation.refusal == .unknownKey)
        #expect(explanation.findings.filter { $0.verdict == .skipped }.map(\.check) == [.signature])
    }

    @Test func withoutKeysAndIssuersTheyAreNotJudged() {
        let explanation = TokenExplanation(of: makeToken(), rules: TestClaims.rules, issuers: [], now: TestClaims.now) {
            _, _ in .keysUnavailable
        }
        #expect(explanation.refusal?.outcome == .unavailable(retryAfter: 1))
        #expect(explanation.findings.filter { $0.verdict == .skipped }.map(\.check) == [.signature, .issuer, .policy])
    }

    @Test(arguments: ["", "x", "Zg.Zg.Zg", "e30.e30.AA", "a.b.c"])
    func eachCheckStandsOnceWhateverTheText(text: String) {
        let explanation = verification.explanation(of: text)
        #expect(explanation.findings.map(\.check) == TokenCheck.allCases)
        #expect(explanation.refusal == verification.refusal(of: text))
    }

    @Test func theFirstFailureIsTheVerifiersAnswer() {
        let changes: [(String, JSONValue?)] = [
            ("exp", nil), ("exp", 1), ("nbf", "x"), ("iat", .integer(.max)), ("iss", "x"), ("aud", []), ("tfp", nil),
            ("tfp", "x"), ("acr", "x"), ("oid", "x"), ("oid", nil), ("scp", 1), ("nothing", 1),
        ]
        for (name, value) in changes {
            let token = makeToken(claims: TestClaims.good.with(name, value))
            #expect(verification.explanation(of: token).refusal == verification.refusal(of: token), "\(name)")
        }
    }

    /// What the token says is shown to a terminal.
    @Test func evidenceIsPrintableASCII() throws {
        let claims = TestClaims.good.with("aud", "\u{1B}[2J\u{202E}\u{9B}\u{E9}\n\"").with(
            "iss", .string(String(repeating: "i", count: 5000)))
        let explanation = verification.explanation(of: makeToken(claims: claims))
        let evidence = explanation.findings.compactMap(\.evidence)
        #expect(evidence.count > 5)
        #expect(evidence.allSatisfy { $0.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F } && $0.count < 300 })
    }

    @Test func everyCheckAndRefusalHasWordsOfItsOwn() {
        #expect(Set(TokenCheck.allCases.map(\.words)).count == TokenCheck.allCases.count)
        let refusals: [TokenRefusal] = [
            .tooLong, .notThreeSegments, .notBase64URL, .headerNotJSON, .wrongAlgorithm, .wrongType, .criticalExtension,
            .unsupportedHeader, .missingKeyIdentifier, .unknownKey, .badSignature, .payloadNotJSON, .missingExpiry,
            .notNumericDate, .expired, .notYetValid, .issuedInFuture, .lifetimeTooLong, .wrongIssuer, .wrongAudience,
            .missingPolicy, .wrongPolicy, .missingOwner, .malformedOwner, .malformedScope,
            .keysUnavailable(retryAfter: 1),
        ]
        #expect(Set(refusals.map(\.words)).count == refusals.count)
        #expect(Set(refusals.map(\.code)).count == refusals.count)
        #expect(refusals.allSatisfy { $0.words.hasSuffix(".") && $0.words.contains(";") })
    }
}
