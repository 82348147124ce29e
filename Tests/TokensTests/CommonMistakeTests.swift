import Basics
import JSON
import Testing
import Tokens

private let tenant = "aaaabbbb-0000-cccc-1111-dddd2222eeee"
private let other = "ffffeeee-0000-cccc-1111-dddd2222eeee"
private let app = "11112222-3333-4444-5555-666677778888"
private let external = "https://\(tenant).ciamlogin.com/\(tenant)/v2.0"
private let b2c = "https://contoso.b2clogin.com/\(tenant)/v2.0/"
private let entra = "https://login.microsoftonline.com/\(tenant)/v2.0"

/// A token with these members and no valid signature.
private func token(_ claims: JSONObject, _ header: JSONObject = ["alg": "RS256", "kid": "k"]) -> String {
    [header, claims].map { Base64URL.encode(JSONValue.object($0).serialized()) }.joined(separator: ".") + ".c2ln"
}

private func mistake(
    _ claims: JSONObject, header: JSONObject = ["alg": "RS256", "kid": "k"], _ refusal: TokenRefusal,
    issuers: [String] = [external], now: Int64 = 1_800_000_000
) -> CommonMistake? {
    CommonMistake(
        in: token(claims, header), refused: refusal, issuers: issuers, audiences: [app, "api://\(other)"], now: now)
}

@Suite("Common mistakes with tokens are recognized (P-33)")
struct CommonMistakeTests {
    @Test(arguments: [
        "00000003-0000-0000-c000-000000000000", "https://graph.microsoft.com", "https://graph.microsoft.com/",
    ])
    func `A token of Microsoft Graph`(audience: String) {
        let claims: JSONObject = ["aud": .string(audience), "iss": .string("https://sts.windows.net/\(tenant)/")]
        #expect(mistake(claims, .wrongIssuer) == .graphToken)
        #expect(mistake(["iss": .string(external)], header: ["nonce": "n"], .badSignature) == .graphToken)
        #expect(mistake(["iss": .string(external)], .badSignature) == nil)
        #expect(mistake(["iss": .string(external)], header: ["nonce": "n"], .expired) == nil)
    }

    @Test func `A token of version 1, unless its issuer is configured; B2C's have that version, too (P-29)`() {
        let issuer = "https://sts.windows.net/\(tenant)/"
        #expect(mistake(["iss": .string(issuer)], .wrongIssuer) == .versionOneToken)
        #expect(mistake(["iss": .string(issuer)], .wrongAudience, issuers: [issuer]) == nil)
        #expect(mistake(["ver": "1.0", "appid": "x"], .wrongIssuer) == .versionOneToken)
        #expect(mistake(["ver": "1.0", "iss": .string(b2c)], .wrongPolicy, issuers: [b2c]) == .wrongPolicy)
    }

    @Test func `An ID token in place of an access token`() {
        #expect(mistake(["iss": .string(external)], .idToken) == .idToken)
        #expect(mistake(["nonce": "n", "aud": "client"], .wrongAudience) == .idToken)
        #expect(mistake(["token_use": "id"], .wrongAudience) == .idToken)
        #expect(mistake(["nonce": "n", "scp": "a"], .wrongAudience) == nil)
    }

    @Test func `A token of an application`() {
        #expect(mistake(["roles": ["a"]], .applicationToken(lacking: nil)) == .applicationToken)
        #expect(mistake(["idtyp": "app"], .missingOwner) == .applicationToken)
        #expect(mistake(["idtyp": "user"], .missingOwner) == nil)
    }

    @Test func `Clocks that differ, with the seconds`() {
        #expect(mistake(["exp": 1_799_999_700], .expired) == .recentlyExpired(seconds: 300))
        #expect(mistake(["exp": 1_799_999_400], .expired) == nil)
        #expect(mistake(["nbf": 1_800_000_070], .notYetValid) == .clockBehind(seconds: 70))
        #expect(mistake(["iat": 1_800_086_400], .issuedInFuture) == nil)
        #expect(mistake(["iat": 1_800_086_399], .issuedInFuture) == .clockBehind(seconds: 86_399))
        #expect(mistake(["nbf": "soon"], .notNumericDate) == nil)
    }

    @Test func `An audience in another form than the configured one (P-25)`() {
        #expect(mistake(["aud": .string("api://\(app)"), "scp": "a"], .wrongAudience) == .audienceForm)
        #expect(mistake(["aud": .string(other), "scp": "a"], .wrongAudience) == .audienceForm)
        #expect(mistake(["aud": .string(tenant), "scp": "a"], .wrongAudience) == nil)
    }

    @Test func `Issuers of Microsoft's that are not configured`() {
        #expect(mistake(["iss": .string(entra)], .wrongIssuer) == .loginHost)
        #expect(mistake(["iss": .string(b2c)], .wrongIssuer) == .otherService(isB2C: true))
        #expect(mistake(["iss": .string(external)], .wrongIssuer, issuers: [b2c]) == .otherService(isB2C: false))
        #expect(
            mistake(["iss": .string(b2c)], .wrongIssuer, issuers: [external, "https://x.b2clogin.com/\(other)/v2.0/"])
                == nil)
        #expect(mistake(["iss": .string("https://\(other).ciamlogin.com/\(other)/v2.0")], .wrongIssuer) == .wrongTenant)
        #expect(mistake(["iss": .string("https://\(other).ciamlogin.com/\(tenant)/v2.0")], .wrongIssuer) == nil)
        #expect(mistake(["iss": .string("https://id.example.com")], .wrongIssuer) == nil)
        #expect(mistake(["tid": .string(other)], .wrongTenant) == .wrongTenant)
    }

    @Test func `No oid, which the client did not ask for`() {
        #expect(mistake(["iss": .string(external)], .missingOwner) == .missingObjectIdentifier)
        #expect(mistake(["iss": "https://id.example.com"], .missingOwner) == nil)
    }

    @Test func `A token that is opaque or encrypted`() {
        for text in ["opaque", "a.b.c.d.e"] {
            let mistake = { CommonMistake(in: text, refused: $0, issuers: [], audiences: [], now: 0) }
            #expect(mistake(.notThreeSegments) == .opaqueOrEncrypted)
            #expect(mistake(.tooLong) == nil)
        }
    }

    @Test func `Every mistake has a code of its own and says what to do, in plain words`() {
        let all: [CommonMistake] = [
            .graphToken, .versionOneToken, .idToken, .applicationToken, .recentlyExpired(seconds: 1), .audienceForm,
            .loginHost, .wrongTenant, .wrongPolicy, .missingObjectIdentifier, .opaqueOrEncrypted,
            .otherService(isB2C: true),
        ]
        #expect(Set(all.map(\.code)).count == 12)
        for mistake in all {
            #expect(mistake.message.hasSuffix(".") && mistake.message.utf8.count < 260, "\(mistake.message)")
            #expect(mistake.code.utf8.allSatisfy { $0.isLowercaseLetter || $0 == 0x5F || $0 == 0x31 })
            let words: [Substring] = mistake.message.split { !$0.isUppercase && $0 != "_" }.filter { $0.count > 5 }
            #expect(words.allSatisfy { $0.hasPrefix("TASKS_") }, "a setting has its whole name: \(mistake.message)")
        }
        #expect(CommonMistake.clockBehind(seconds: 70).code == CommonMistake.recentlyExpired(seconds: 70).code)
    }
}

extension UInt8 {
    fileprivate var isLowercaseLetter: Bool { (0x61...0x7A).contains(self) }
}
