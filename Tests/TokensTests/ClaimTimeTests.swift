import JSON
import Support
import Testing
import Tokens

@Suite("The times in a token (V-52, V-53, V-104)")
struct ClaimTimeTests {
    let verification: Verification
    let now = TestClaims.now

    init() throws {
        verification = try Verification()
    }

    /// Lifetime and order fit, so that only one rule is at stake.
    private func refusal(exp: JSONValue?, nbf: JSONValue? = nil, iat: JSONValue? = nil) -> TokenRefusal? {
        verification.refusal(
            of: makeToken(claims: TestClaims.good.with("exp", exp).with("nbf", nbf).with("iat", iat)))
    }

    @Test func expiryIsRequired() {
        #expect(refusal(exp: nil) == .missingExpiry)
    }

    /// Values that a conversion to `Int` would die of are among them (V-51).
    @Test(
        "V-52: no moment",
        arguments: [
            .null, .boolean(true), .string("1700003600"), ["1700003600"], [:], .integer(-1), .integer(.min),
            .integer(.max),
            .integer(253_402_300_800), .real(1e300), .real(-1e300), .real(-0.5), .real(253_402_300_799.5), .real(1e19),
            .real(9.3e18),
        ] as [JSONValue])
    func notNumericDate(value: JSONValue) {
        #expect(refusal(exp: value) == .notNumericDate)
        #expect(refusal(exp: .integer(now + 60), nbf: value) == .notNumericDate)
        #expect(refusal(exp: .integer(now + 60), iat: value) == .notNumericDate)
    }

    /// Numbers beyond the range of either type are no JSON to us.
    @Test(arguments: ["1e400", "-1e400", "99999999999999999999", "NaN", "Infinity", "01", "0x10", "1."])
    func numbersOutOfRange(number: String) {
        let payload = Array(#"{"exp":\#(number)}"#.utf8)
        let token = makeToken(payload: payload, header: JSONValue.object(TestClaims.header).serialized())
        #expect(verification.refusal(of: token) == .payloadNotJSON)
    }

    @Test func yearNineThousandIsAMomentButTooFar() {
        #expect(refusal(exp: .integer(253_402_300_799)) == nil)
        #expect(refusal(exp: .integer(253_402_300_799), iat: .integer(now)) == .lifetimeTooLong)
    }

    @Test func expiryAtTheBoundary() {
        #expect(refusal(exp: .integer(now - 59)) == nil)
        #expect(refusal(exp: .integer(now - 60)) == .expired)
        #expect(refusal(exp: .real(Double(now) - 59.5)) == nil)
        #expect(refusal(exp: .real(Double(now) - 60.5)) == .expired)
        #expect(refusal(exp: 0) == .expired)
    }

    @Test func beginningAtTheBoundary() {
        let exp = JSONValue.integer(now + 600)
        #expect(refusal(exp: exp, nbf: .integer(now + 60)) == nil)
        #expect(refusal(exp: exp, nbf: .integer(now + 61)) == .notYetValid)
        #expect(refusal(exp: exp, nbf: .real(Double(now) + 60.5)) == .notYetValid)
        #expect(refusal(exp: exp, iat: .integer(now + 60)) == nil)
        #expect(refusal(exp: exp, iat: .integer(now + 61)) == .issuedInFuture)
    }

    @Test func beginningIsBeforeTheEnd() {
        #expect(refusal(exp: .integer(now + 10), nbf: .integer(now + 9)) == nil)
        #expect(refusal(exp: .integer(now + 10), nbf: .integer(now + 10)) == .notYetValid)
    }

    @Test func lifetimeAtTheBoundary() {
        #expect(refusal(exp: .integer(now + 86_460), iat: .integer(now)) == nil)
        #expect(refusal(exp: .integer(now + 86_461), iat: .integer(now)) == .lifetimeTooLong)
    }

    @Test func largestSkewAndOddRulesDoNotTrap() throws {
        var verification = verification
        verification.rules.clockSkew = 300
        verification.now = .max
        #expect(verification.refusal(of: makeToken()) == .expired)
        verification.now = .min
        #expect(verification.refusal(of: makeToken()) == .notYetValid)
    }

    /// A cache asks again at each use, and hears what a new verification would say.
    @Test func cachedTokensAreJudgedAgain() throws {
        for (exp, nbf) in [(now + 100, now - 7), (now, now), (now + 1, now + 60)] as [(Int64, Int64)] {
            let token = makeToken(
                claims: TestClaims.good.with("exp", .real(Double(exp) + 0.25)).with("nbf", .real(Double(nbf) - 0.25))
                    .with("iat", nil))
            guard nbf < exp else { continue }
            let cached = try verification.verify(token)
            for second in (nbf - 63)...(exp + 63) {
                var then = verification
                then.now = second
                var again: TokenRefusal?
                do throws(TokenRefusal) { try cached.check(now: second) } catch { again = error }
                #expect(again == then.refusal(of: token), "at \(second - now)")
            }
        }
    }
}
