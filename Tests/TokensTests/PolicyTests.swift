import JSON
import Support
import Testing
import Tokens

@Suite("The policy must be one of the key's (V-56)")
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

    @Test func caseIsFoldedAndTheConfiguredNameReported() throws {
        #expect(try policy(tfp: "b2c_1_SIGN_in") == "B2C_1_sign_in")
        #expect(try policy(tfp: "B2C_1_EDIT") == "b2c_1_edit")
        #expect(try policy(tfp: nil, acr: "b2c_1_sign_in") == "B2C_1_sign_in")
        #expect(try policy(tfp: "b2c_1_edit", acr: "B2C_1_Edit") == "b2c_1_edit")
    }

    /// The long s and the dotless i have S and I as capitals for Unicode, not for us.
    @Test func onlyASCIILettersAreFolded() {
        #expect(throws: TokenRefusal.wrongPolicy) { try policy(tfp: "b2c_1_s\u{131}gn_in") }
        #expect(throws: TokenRefusal.wrongPolicy) { try policy(tfp: "b2c_1_\u{17F}ign_in") }
    }

    /// An issuer and its keys are shared by policies that nobody configured, like that for resetting a password.
    @Test(arguments: ["b2c_1_reset", "", "b2c_1_sign_in ", 1, .null, ["b2c_1_sign_in"]] as [JSONValue])
    func otherPolicies(value: JSONValue) {
        #expect(throws: TokenRefusal.wrongPolicy) { try policy(tfp: value) }
        #expect(throws: TokenRefusal.wrongPolicy) { try policy(tfp: nil, acr: value) }
    }

    @Test func bothMustAgree() {
        #expect(throws: TokenRefusal.wrongPolicy) { try policy(tfp: "b2c_1_sign_in", acr: "b2c_1_edit") }
        #expect(throws: TokenRefusal.wrongPolicy) { try policy(tfp: "b2c_1_sign_in", acr: 1) }
    }

    @Test func neitherIsRefusedWherePoliciesAreConfigured() {
        #expect(throws: TokenRefusal.missingPolicy) { try policy(tfp: nil) }
    }

    @Test func withoutPoliciesNoneIsLookedAt() throws {
        var plain = verification
        plain.issuers = [TokenIssuer(identifier: TestClaims.issuer, policy: nil)]
        for value in [nil, "1", "urn:mace:incommon:iap:silver", 1] as [JSONValue?] {
            let token = makeToken(claims: TestClaims.good.with("tfp", nil).with("acr", value))
            #expect(try plain.verify(token).principal.policy == nil)
        }
    }

    /// A key of B2C signs for all policies of its tenant, so where none is configured, none can be told from another.
    @Test func withoutPoliciesATokenOfOneIsRefused() {
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

    /// Each policy may have an issuer of its own: issuer and policy must belong together.
    @Test func issuerAndPolicyBelongTogether() {
        var tfp = verification
        tfp.issuers = [
            TokenIssuer(identifier: "https://a.example/tfp/sign_in/", policy: "sign_in"),
            TokenIssuer(identifier: "https://a.example/tfp/edit/", policy: "edit"),
        ]
        let claims = TestClaims.good.with("iss", "https://a.example/tfp/edit/")
        #expect(tfp.refusal(of: makeToken(claims: claims.with("tfp", "edit"))) == nil)
        #expect(tfp.refusal(of: makeToken(claims: claims.with("tfp", "sign_in"))) == .wrongPolicy)
    }

    @Test func aKeyWithoutIssuersSignsNothing() {
        var orphan = verification
        orphan.issuers = []
        #expect(orphan.refusal(of: makeToken()) == .wrongIssuer)
    }
}
