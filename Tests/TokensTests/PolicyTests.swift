import JSON
import Support
import Testing
import Tokens

/// The refusals of single policies are in the set of hostile tokens, `IssuerKeysTests/HostileTokens`.
@Suite("The policy of a token is one of those of its key (V-56)")
struct PolicyTests {
    var verification: Verification

    init() throws {
        verification = try Verification()
        verification.issuers = [
            TokenIssuer(identifier: TestClaims.issuer, policy: "B2C_1_sign_in"),
            TokenIssuer(identifier: TestClaims.issuer, policy: "b2c_1_edit"),
        ]
    }

    private func policy(tfp: JSONValue?, acr: JSONValue? = nil) throws(TokenRefusal) -> String? {
        try verification.verify(makeToken(claims: TestClaims.good.with("tfp", tfp).with("acr", acr))).principal.policy
    }

    @Test func `The case of a policy is ignored, and the configured name is reported`() throws {
        #expect(try policy(tfp: "b2c_1_SIGN_in") == "B2C_1_sign_in")
        #expect(try policy(tfp: "B2C_1_EDIT") == "b2c_1_edit")
        #expect(try policy(tfp: nil, acr: "b2c_1_sign_in") == "B2C_1_sign_in")
        #expect(try policy(tfp: "b2c_1_edit", acr: "B2C_1_Edit") == "b2c_1_edit")
    }

    @Test func `Without policies, acr may have any value that is not a B2C policy`() throws {
        var plain = verification
        plain.issuers = [TokenIssuer(identifier: TestClaims.issuer, policy: nil)]
        for value in [nil, "1", "urn:mace:incommon:iap:silver", 1] as [JSONValue?] {
            let token = makeToken(claims: TestClaims.good.with("tfp", nil).with("acr", value))
            #expect(try plain.verify(token).principal.policy == nil)
        }
    }

    /// A key of B2C signs for all policies of its tenant.
    @Test func `Without policies, a token of a B2C policy is refused`() {
        var plain = verification
        plain.issuers = [TokenIssuer(identifier: TestClaims.issuer, policy: nil)]
        for value in [.string(TestClaims.policy), "x", "", .null, 1] as [JSONValue] {
            #expect(plain.refusal(of: makeToken(claims: TestClaims.good.with("tfp", value))) == .wrongPolicy)
        }
        for value in ["b2c_1_sign_in", "B2C_1A_SIGNUP_SIGNIN"] as [JSONValue] {
            let token = makeToken(claims: TestClaims.good.with("tfp", nil).with("acr", value))
            #expect(plain.refusal(of: token) == .wrongPolicy)
        }
    }

    @Test func `A key without issuers signs nothing`() {
        var orphan = verification
        orphan.issuers = []
        #expect(orphan.refusal(of: makeToken()) == .wrongIssuer)
    }
}
