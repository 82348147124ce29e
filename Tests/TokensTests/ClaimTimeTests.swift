import JSON
import Support
import Testing
import Tokens

@Suite("The times of a token are compared with the clock (V-52, V-53, V-104)")
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

    @Test func `The last second of the year 9999 is a NumericDate (V-52)`() {
        var unlimited = verification
        unlimited.rules.longestLifetime = 253_402_300_799
        #expect(unlimited.refusal(with: "exp", .integer(253_402_300_799)) == nil)
        #expect(refusal(exp: .integer(253_402_300_799), iat: .integer(now)) == .lifetimeTooLong)
    }

    @Test(arguments: [JSONValue.integer(TestClaims.now), .integer(TestClaims.now + 60), nil])
    func `The longest lifetime counts from now, too, with iat and without (V-53)`(iat: JSONValue?) {
        #expect(refusal(exp: .integer(now + 86_460), iat: iat) == nil)
        #expect(refusal(exp: .integer(now + 86_461), iat: iat) == .lifetimeTooLong)
        #expect(refusal(exp: .real(Double(now) + 86_460.5), iat: iat) == .lifetimeTooLong)
    }

    @Test func `The claim nbf is before exp (V-53)`() {
        #expect(refusal(exp: .integer(now + 10), nbf: .integer(now + 9)) == nil)
        #expect(refusal(exp: .integer(now + 10), nbf: .integer(now + 10)) == .notYetValid)
    }

    @Test("The time of issue is iat, or else the earliest that the end of the token allows")
    func issue() throws {
        func issued(_ iat: JSONValue?) throws -> Int64 {
            let claims = TestClaims.good.with("exp", .integer(now + 100)).with("iat", iat)
            return try verification.verify(makeToken(claims: claims)).principal.issued
        }
        #expect(try issued(.real(Double(now) - 7.25)) == now - 8)
        #expect(try issued(nil) == now + 100 - 86_400)
    }

    @Test func `Clocks at the ends of their range do not trap (V-53)`() throws {
        var verification = verification
        verification.rules.clockSkew = 300
        verification.now = .max
        #expect(verification.refusal(of: makeToken()) == .expired)
        verification.now = .min
        #expect(verification.refusal(of: makeToken()) == .notYetValid)
    }

    @Test func `The times of a cached token say what a new verification would say (V-104)`() throws {
        let (exp, start) = (now + 100, now - 7)
        for (claim, early) in [("nbf", TokenRefusal.notYetValid), ("iat", .issuedInFuture), ("azp", .lifetimeTooLong)] {
            let times = TestClaims.good.with("exp", .real(Double(exp) + 0.25)).with("nbf", nil).with("iat", nil)
            let token = makeToken(claims: times.with(claim, .real(Double(start) - 0.25)))
            var verification = verification
            if early == .lifetimeTooLong { verification.rules.longestLifetime = exp - start }
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
