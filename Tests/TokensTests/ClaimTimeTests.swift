import JSON
import Support
import Testing
import Tokens

@Suite("The times of a token are compared with the clock (V-52, V-53, V-104)", .timeLimit(.minutes(15)))
struct ClaimTimeTests {
    let verification: Verification
    let now = TestClaims.now

    init() throws {
        verification = try Verification()
    }

    /// Lifetime and order are right, so that only one rule can be broken.
    private func refusal(exp: JSONValue?, nbf: JSONValue? = nil, iat: JSONValue? = nil) -> TokenRefusal? {
        verification.refusal(
            of: makeToken(claims: TestClaims.good.with("exp", exp).with("nbf", nbf).with("iat", iat)))
    }

    @Test("A token without exp is refused (V-52)")
    func expiryIsRequired() {
        #expect(refusal(exp: nil) == .missingExpiry)
    }

    /// Among them are values on which a conversion to `Int` traps (V-51).
    @Test(
        "A value that is not a NumericDate is refused, and none traps (V-51, V-52)",
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

    @Test(
        "Numbers beyond the range of both number types are not JSON here (V-52)",
        arguments: ["1e400", "-1e400", "99999999999999999999", "NaN", "Infinity", "01", "0x10", "1."])
    func numbersOutOfRange(number: String) {
        let payload = Array(#"{"exp":\#(number)}"#.utf8)
        let token = makeToken(payload: payload, header: JSONValue.object(TestClaims.header).serialized())
        #expect(verification.refusal(of: token) == .payloadNotJSON)
    }

    @Test("The last second of the year 9999 is a NumericDate (V-52)")
    func lastSecondOfTheYear9999() {
        #expect(refusal(exp: .integer(253_402_300_799)) == nil)
        #expect(refusal(exp: .integer(253_402_300_799), iat: .integer(now)) == .lifetimeTooLong)
    }

    @Test("A token is accepted until exp plus the clock skew (V-53)")
    func expiryAtTheBoundary() {
        #expect(refusal(exp: .integer(now - 59)) == nil)
        #expect(refusal(exp: .integer(now - 60)) == .expired)
        #expect(refusal(exp: .real(Double(now) - 59.5)) == nil)
        #expect(refusal(exp: .real(Double(now) - 60.5)) == .expired)
        #expect(refusal(exp: 0) == .expired)
    }

    @Test("A token is accepted from nbf and iat on, less the clock skew (V-53)")
    func beginningAtTheBoundary() {
        let exp = JSONValue.integer(now + 600)
        #expect(refusal(exp: exp, nbf: .integer(now + 60)) == nil)
        #expect(refusal(exp: exp, nbf: .integer(now + 61)) == .notYetValid)
        #expect(refusal(exp: exp, nbf: .real(Double(now) + 60.5)) == .notYetValid)
        #expect(refusal(exp: exp, iat: .integer(now + 60)) == nil)
        #expect(refusal(exp: exp, iat: .integer(now + 61)) == .issuedInFuture)
    }

    @Test("The claim nbf is before exp (V-53)")
    func beginningIsBeforeTheEnd() {
        #expect(refusal(exp: .integer(now + 10), nbf: .integer(now + 9)) == nil)
        #expect(refusal(exp: .integer(now + 10), nbf: .integer(now + 10)) == .notYetValid)
    }

    @Test("The lifetime of a token is limited (V-53)")
    func lifetimeAtTheBoundary() {
        #expect(refusal(exp: .integer(now + 86_460), iat: .integer(now)) == nil)
        #expect(refusal(exp: .integer(now + 86_461), iat: .integer(now)) == .lifetimeTooLong)
    }

    @Test("Clocks at the ends of their range do not trap (V-53)")
    func largestSkewAndOddRulesDoNotTrap() throws {
        var verification = verification
        verification.rules.clockSkew = 300
        verification.now = .max
        #expect(verification.refusal(of: makeToken()) == .expired)
        verification.now = .min
        #expect(verification.refusal(of: makeToken()) == .notYetValid)
    }

    @Test("The times of a cached token say what a new verification would say (V-104)")
    func timesOfCachedTokens() throws {
        let (exp, start) = (now + 100, now - 7)
        for (claim, early) in [("nbf", TokenRefusal.notYetValid), ("iat", .issuedInFuture)] {
            let times = TestClaims.good.with("exp", .real(Double(exp) + 0.25)).with("nbf", nil).with("iat", nil)
            let token = makeToken(claims: times.with(claim, .real(Double(start) - 0.25)))
            let cached = try verification.verify(token)
            for second in (start - 63)...(exp + 63) {
                var then = verification
                then.now = second
                let refusal: TokenRefusal? =
                    second >= cached.usableUntil ? .expired : second < cached.usableFrom ? early : nil
                #expect(refusal == then.refusal(of: token), "at \(second - now)")
                #expect(cached.isUsable(at: second) == (refusal == nil), "at \(second - now)")
            }
        }
    }
}
