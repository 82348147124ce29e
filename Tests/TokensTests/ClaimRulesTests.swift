import JSON
import OpenSSL
import Support
import Testing
import Tokens

/// The refusals of single claims are in the set of hostile tokens, `IssuerKeysTests/HostileTokens`.
@Suite("What the claims of a token say, and in which order they are checked (V-50 to V-63)")
struct ClaimRulesTests {
    let verification: Verification

    init() throws {
        verification = try Verification()
    }

    @Test func `A good token represents its owner`() throws {
        let principal = try verification.verify(makeToken()).principal
        #expect(
            principal
                == Principal(
                    owner: TestClaims.owner, name: "Alice", policy: TestClaims.policy,
                    scopes: ["tasks.read", "tasks.write"], expiry: TestClaims.now + 3600, issued: TestClaims.now))
    }

    @Test func `The first broken rule is the refusal, and the signature comes before all claims (V-50)`() throws {
        var claims: JSONObject = [
            "exp": "x", "nbf": "x", "iat": "x", "iss": 1, "aud": 1, "tfp": 1, "oid": 1, "scp": 1,
        ]
        #expect(verification.refusal(of: makeToken(claims: claims, key: SigningKey.other)) == .badSignature)
        let corrections: [(String, JSONValue, TokenRefusal?)] = [
            ("exp", .integer(TestClaims.now - 100), .expired), ("exp", .integer(TestClaims.now + 100), .notNumericDate),
            ("nbf", .integer(TestClaims.now + 90), .notYetValid), ("nbf", .integer(TestClaims.now), .notNumericDate),
            ("iat", .integer(TestClaims.now + 90), .issuedInFuture), ("iat", .integer(TestClaims.now), .wrongIssuer),
            ("iss", .string(TestClaims.issuer), .wrongAudience), ("aud", .string(TestClaims.audience), .wrongPolicy),
            ("tfp", .string(TestClaims.policy), .malformedOwner), ("oid", .string(TestClaims.owner), .malformedScope),
            ("scp", "", nil),
        ]
        for (name, value, next) in corrections {
            claims[name] = value
            #expect(verification.refusal(of: makeToken(claims: claims)) == next, "after \(name)")
        }
    }

    /// To Swift's `==` these are equal.
    @Test func `Composed and decomposed letters differ (V-54, V-55)`() throws {
        var verification = verification
        verification.issuers = [TokenIssuer(identifier: "https://caf\u{E9}.example/", policy: TestClaims.policy)]
        #expect(verification.refusal(with: "iss", "https://caf\u{E9}.example/") == nil)
        #expect(verification.refusal(with: "iss", "https://cafe\u{301}.example/") == .wrongIssuer)
        verification = try Verification()
        verification.rules.audience.accepted = ["caf\u{E9}"]
        #expect(verification.refusal(with: "aud", "caf\u{E9}") == nil)
        #expect(verification.refusal(with: "aud", "cafe\u{301}") == .wrongAudience)
    }

    @Test func `Only the owner claim names the owner (V-58)`() throws {
        let upper = makeToken(claims: TestClaims.good.with("oid", .string(TestClaims.owner.uppercased())))
        #expect(try verification.verify(upper).principal.owner == TestClaims.owner)
        let sub = makeToken(
            claims: TestClaims.good.with("sub", .string(TestClaims.audience)).with("email", "a@b.example"))
        #expect(try verification.verify(sub).principal.owner == TestClaims.owner)
    }

    @Test func `An owner claim other than oid may have other text (V-57)`() throws {
        var verification = verification
        verification.rules.owner.claim = OwnerClaim("sub")
        let token = makeToken(claims: TestClaims.good.with("sub", "Auth0|Alice \u{E9}"))
        #expect(try verification.verify(token).principal.owner == "Auth0|Alice \u{E9}")
        #expect(verification.refusal(with: "sub", .string(String(repeating: "s", count: 256))) == nil)
        for text in ["", String(repeating: "s", count: 257), "a\0", "a\nb", "a\u{7F}", "a\u{85}"] {
            #expect(verification.refusal(with: "sub", .string(text)) == .malformedOwner)
        }
        #expect(verification.refusal(with: "sub", nil) == .missingOwner)
        // The owner claim of a plain provider is a setting, and Microsoft's advice about oid is a common mistake.
        #expect(TokenRefusal.missingOwner.message.contains("TASKS_OWNER_CLAIM"))
    }

    @Test func `Claims that no rule reads may have any shape (V-51, V-60)`() throws {
        let shapes: [JSONValue] = [.null, true, .real(1e300), .integer(.min), "", [], [[[:]]], ["x": ["y": [1, "2"]]]]
        for name in ["emails", "idp", "extension_a", "ver", "auth_time", "azp", "at_hash", "name", ""] {
            for shape in shapes {
                #expect(verification.refusal(with: name, shape) == nil, "\(name) \(shape)")
            }
        }
        let unnamed = makeToken(claims: TestClaims.good.with("name", 1))
        #expect(try verification.verify(unnamed).principal.name == nil)
    }
}
