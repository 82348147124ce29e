import JSON
import Support
import Testing
import Tokens

@Suite("The explanation of a token shows what the token says beside what is accepted")
struct TokenExplanationTests {
    private func explanation(_ token: String) -> TokenExplanation {
        TokenExplanation(
            of: token, .failure(.wrongAudience), header: [(["alg"], ["RS256"]), (["kid"], ["key-1"])],
            claims: TestClaims.rules.accepted(from: TestClaims.issuers))
    }

    @Test func `Every member is decoded, and what it is compared with stands beside it`() throws {
        let claims = TestClaims.good.with("aud", "other").with("extra", 1)
        let explanation = explanation(makeToken(claims: claims))
        #expect(explanation.header.map(\.name).contains("kid"))
        #expect(explanation.header.first { $0.name == "alg" }?.accepted == ["\"RS256\""])
        let audience = try #require(explanation.claims.first { $0.name == "aud" })
        #expect(audience.value == "\"other\"" && audience.accepted == ["\"\(TestClaims.audience)\""])
        let issuer = try #require(explanation.claims.first { $0.name == "iss" })
        #expect(issuer.accepted == ["\"\(TestClaims.issuer)\""])
        #expect(explanation.claims.first { $0.name == "extra" }?.value == "1")
        let expiry = try #require(explanation.claims.first { $0.name == "exp" })
        #expect(expiry.moment.map { $0 > TestClaims.now } == true && expiry.accepted.isEmpty)
        #expect(explanation.refusal == .wrongAudience)
    }

    @Test func `A missing member with which something is compared is shown, others are not`() {
        let token = makeToken(claims: TestClaims.good.with("aud", nil), header: TestClaims.header.with("kid", nil))
        let explanation = explanation(token)
        #expect(explanation.claims.filter { $0.value == nil }.map(\.name) == ["aud"])
        #expect(explanation.header.filter { $0.value == nil }.map(\.name) == ["kid"])
    }

    @Test func `What cannot be read is left out`() {
        let explanation = explanation("opaque")
        #expect(explanation.header.isEmpty && explanation.claims.isEmpty)
    }

    @Test func `Members are printable ASCII, because they are shown in a terminal`() throws {
        let claims = TestClaims.good.with("aud", "\u{1B}[2J\u{202E}\u{9B}\u{E9}\n\"").with(
            "iss", .string(String(repeating: "i", count: 5000))
        ).with("\u{1B}[2J", "x")
        let texts = explanation(makeToken(claims: claims)).claims.flatMap { [$0.name, $0.value ?? ""] }
        #expect(texts.count > 10)
        #expect(texts.allSatisfy { $0.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F } && $0.count < 300 })
    }

    @Test func `Each refusal has a text of its own`() {
        let refusals = TokenRefusal.all
        #expect(Set(refusals.map(\.message)).count == refusals.count)
        #expect(Set(refusals.map(\.code)).count == refusals.count)
        #expect(refusals.allSatisfy { $0.message.hasSuffix(".") && $0.message.contains(";") })
    }
}
