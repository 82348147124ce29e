import JSON
import Support
import Testing
import Tokens

@Suite("The explanation of a token agrees with the verifier, and continues after a failure")
struct TokenExplanationTests {
    let verification: Verification

    init() throws {
        verification = try Verification()
    }

    private func failures(_ explanation: TokenExplanation) -> [TokenCheck] {
        explanation.findings.filter { if case .failed = $0.verdict { true } else { false } }.map(\.check)
    }

    @Test func `A good token passes every check`() {
        let explanation = verification.explanation(of: makeToken())
        #expect(explanation.findings.map(\.check) == TokenCheck.allCases)
        #expect(explanation.findings.allSatisfy { $0.verdict == .passed })
        #expect(explanation.refusal == nil && explanation.principal?.owner == TestClaims.owner)
    }

    @Test func `All failures are reported`() {
        var claims = TestClaims.good
        claims["exp"] = 1
        claims["aud"] = "other"
        claims["oid"] = nil
        let explanation = verification.explanation(of: makeToken(claims: claims, key: SigningKey.other))
        let wrong: [ClaimCheck] = [.expiry, .notBefore, .audience, .owner]
        #expect(failures(explanation) == [.signature] + wrong.map { .claim($0) })
        #expect(explanation.refusal == .badSignature && explanation.principal == nil)
        #expect(explanation.findings.first { $0.check == .claim(.audience) }?.evidence == #""aud":"other""#)
    }

    @Test func `The header is checked by each rule`() {
        let header: JSONObject = ["alg": "none", "typ": "x", "crit": [], "zip": "DEF"]
        let explanation = verification.explanation(of: makeToken(header: header))
        #expect(failures(explanation) == HeaderCheck.allCases.map { .headerRule($0) })
        #expect(explanation.findings.filter { $0.verdict == .skipped }.map(\.check) == [.key, .signature])
        #expect(explanation.refusal == .wrongAlgorithm)
    }

    @Test func `The claims of a token with an unknown key are checked`() {
        let explanation = verification.explanation(of: makeToken(header: TestClaims.header.with("kid", "other")))
        #expect(failures(explanation) == [.key])
        #expect(explanation.refusal == .unknownKey)
        #expect(explanation.findings.filter { $0.verdict == .skipped }.map(\.check) == [.signature])
    }

    @Test func `Without keys and issuers, the checks that need them are skipped`() {
        let explanation = TokenExplanation(of: makeToken(), rules: TestClaims.rules, issuers: [], now: TestClaims.now) {
            _, _ in .keysUnavailable
        }
        #expect(explanation.refusal?.outcome == .unavailable(retryAfter: 1))
        let skipped = explanation.findings.filter { $0.verdict == .skipped }.map(\.check)
        #expect(skipped == [.signature, .claim(.issuer), .claim(.policy)])
    }

    @Test func `Evidence is printable ASCII, because it is shown in a terminal`() throws {
        let claims = TestClaims.good.with("aud", "\u{1B}[2J\u{202E}\u{9B}\u{E9}\n\"").with(
            "iss", .string(String(repeating: "i", count: 5000)))
        let explanation = verification.explanation(of: makeToken(claims: claims))
        let evidence = explanation.findings.compactMap(\.evidence)
        #expect(evidence.count > 5)
        #expect(evidence.allSatisfy { $0.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F } && $0.count < 300 })
    }

    @Test func `Each check and each refusal has a text of its own`() {
        #expect(Set(TokenCheck.allCases.map(\.requirement)).count == TokenCheck.allCases.count)
        let refusals = TokenRefusal.all
        #expect(Set(refusals.map(\.message)).count == refusals.count)
        #expect(Set(refusals.map(\.code)).count == refusals.count)
        #expect(refusals.allSatisfy { $0.message.hasSuffix(".") && $0.message.contains(";") })
    }
}
