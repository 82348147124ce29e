import JSON
import Support
import Tokens

// Faults of single claims (V-50 to V-61); the signature is right.
extension HostileToken {
    private static let absent: [(String, TokenRefusal)] = [
        ("exp", .missingExpiry), ("iss", .wrongIssuer), ("aud", .wrongAudience), ("tfp", .missingPolicy),
        ("oid", .missingOwner),
    ]

    /// The claims that are missing or of a wrong type.
    static var claims: [HostileToken] {
        let types: [JSONValue] = [.null, true, false, [], [:], 0, .integer(-1), .real(0.5), ["a"], ["a": 1]]
        let times: [HostileToken] = ["exp", "nbf", "iat"].flatMap { name in
            ([.null, true, false, [], [:], "", "1700003600", "now", .string("\(TestClaims.now)"), [1_700_003_600]]
                as [JSONValue])
                .map { claim(name, $0, .notNumericDate) }
        }
        let texts: [(String, TokenRefusal)] = [
            ("iss", .wrongIssuer), ("aud", .wrongAudience), ("tfp", .wrongPolicy), ("oid", .malformedOwner),
        ]
        return absent.map { claim($0.0, nil, $0.1) } + times
            + texts.flatMap { name, refusal in types.map { claim(name, $0, refusal) } }
            + ([.null, true, 1, .real(0.5), [:], ["scp": "tasks.read"]] as [JSONValue]).map {
                claim("scp", $0, .malformedScope)
            }
            + [
                claim("iss", [.string(TestClaims.issuer)], .wrongIssuer),
                claim("oid", [.string(TestClaims.owner)], .malformedOwner),
                claim("tfp", [.string(TestClaims.policy)], .wrongPolicy),
                claim("acr", "B2C_1_reset", .wrongPolicy), claim("acr", 1, .wrongPolicy),
                claim("acr", .null, .wrongPolicy),
            ]
    }

    /// The times, at their edges and beyond what a number can be (V-52, V-53).
    static var times: [HostileToken] {
        let now = TestClaims.now
        let (latest, unlike) = (JSONValue.integer(253_402_300_799), TokenRefusal.notNumericDate)
        return [
            claim("exp", .integer(now - 60), .expired), claim("exp", .integer(now - 61), .expired),
            claim("exp", .real(Double(now) - 60), .expired), claim("exp", 0, .expired), claim("exp", 1, .expired),
            claim("exp", .integer(now - 86_400), .expired), claim("exp", .real(0.1), .expired),
            claim("exp", .real(-0.0), .expired), claim("exp", -1, unlike), claim("exp", .real(-0.5), unlike),
            claim("exp", .integer(.max), unlike), claim("exp", .integer(.min), unlike),
            claim("exp", .real(1e300), unlike),
            claim("exp", .real(-1e300), unlike), claim("exp", .integer(253_402_300_800), unlike),
            claim("exp", .integer(now * 1000), unlike), claim("exp", .real(9.3e18), unlike),
            claim("exp", .real(253_402_300_799.5), unlike),
            claim("exp", latest, .lifetimeTooLong), claim("exp", .integer(now + 86_461), .lifetimeTooLong),
            claim("exp", .integer(now + 86_400 * 365), .lifetimeTooLong),
            claim("exp", .real(Double(now) + 86_460.5), .lifetimeTooLong),
            claim("nbf", .integer(now + 61), .notYetValid), claim("nbf", .integer(now + 3600), .notYetValid),
            claim("nbf", .real(Double(now) + 60.5), .notYetValid), claim("nbf", latest, .notYetValid),
            claim("nbf", -1, unlike), claim("nbf", .real(1e300), unlike), claim("nbf", .integer(.min), unlike),
            claim("nbf", .integer(now * 1000), unlike),
            claim("iat", .integer(now + 61), .issuedInFuture), claim("iat", .integer(now + 3600), .issuedInFuture),
            claim("iat", latest, .issuedInFuture), claim("iat", 0, .lifetimeTooLong),
            claim("iat", .integer(now + 3600 - 86_461), .lifetimeTooLong), claim("iat", -1, unlike),
            claim("iat", .real(1e300), unlike), claim("iat", .integer(.max), unlike),
        ]
    }

    /// Issuers, audiences, policies and owners that are almost right (V-54 to V-57).
    static var names: [HostileToken] {
        issuers.map { claim("iss", .string($0), .wrongIssuer) }
            + audiences.map { claim("aud", $0, .wrongAudience) }
            + policies.map { claim("tfp", .string($0), .wrongPolicy) }
            + owners.map { claim("oid", .string($0), .malformedOwner) }
    }

    private static var issuers: [String] {
        let (host, tenant) = ("contoso.b2clogin.com", "775527ff-9a37-4307-8b3d-cc311f58d925")
        let issuer = TestClaims.issuer
        return [
            "", "/", String(issuer.dropLast()), issuer + "/", issuer + " ", " " + issuer, issuer + "\n", issuer + "\0",
            issuer + "?", issuer + "#", issuer + "?p=b2c_1_sign_in", issuer.uppercased(),
            "https://\(host)/\(tenant)/V2.0/",
            "https://\(host.uppercased())/\(tenant)/v2.0/", "https://\(host)/\(tenant.uppercased())/v2.0/",
            "http://\(host)/\(tenant)/v2.0/", "https://\(host):443/\(tenant)/v2.0/", "https://\(host)./\(tenant)/v2.0/",
            "https://\(host)//\(tenant)/v2.0/", "https://\(host)/x/../\(tenant)/v2.0/",
            "https://\(host)/\(tenant)/v1.0/",
            "https://\(host)/00000000-0000-4000-8000-000000000000/v2.0/",
            "https://\(host)/tfp/\(tenant)/b2c_1_sign_in/v2.0/",
            "https://\(host)/contoso.onmicrosoft.com/v2.0/", "https://\(host).evil.example/\(tenant)/v2.0/",
            "https://evil.example/\(host)/\(tenant)/v2.0/", "https://\(host)@evil.example/\(tenant)/v2.0/",
            "https://\(host)%2F\(tenant)/v2.0/", "https:\\\\\(host)\\\(tenant)\\v2.0\\", "//\(host)/\(tenant)/v2.0/",
            "https://login.microsoftonline.com/\(tenant)/v2.0/", "https://sts.windows.net/\(tenant)/",
            "https://c\u{43E}ntoso.b2clogin.com/\(tenant)/v2.0/", "https://co\u{301}ntoso.b2clogin.com/\(tenant)/v2.0/",
            "https://\(host)/\(tenant)/v2.0/\u{200B}", "\u{FEFF}" + issuer, "https://accounts.google.com",
        ]
    }

    private static var audiences: [JSONValue] {
        let audience = TestClaims.audience
        let texts = [
            "", audience.uppercased(), "{\(audience)}", "urn:uuid:\(audience)", "api://\(audience)", audience + "/",
            String(audience.dropLast()), audience + "0", " " + audience, audience + " ", audience + "\0",
            audience + "," + audience, audience + " other", String(audience.filter { $0 != "-" }), "*", ".*", "%",
            "00000003-0000-0000-c000-000000000000", audience.replacing("0", with: "\u{FF10}"),
        ]
        let lists: [JSONValue] = [
            [.string(audience), .string(audience)], [.string(audience), "other"], ["other", .string(audience)],
            ["other"],
            [[.string(audience)]], [.string(audience), .null], [1], [.null], ["aud": .string(audience)],
        ]
        return texts.map { .string($0) } + lists
    }

    private static let policies = [
        "", "B2C_1_sign_i", "B2C_1_sign_in2", "B2C_1_sign_in ", " B2C_1_sign_in", "B2C_1_sign_in\0",
        "sign_in",
        "B2C_1A_sign_in", "B2C_1_s\u{131}gn_in", "B2C_1_\u{17F}ign_in", "B2C_1_sign\u{2011}in",
        "B2C_1_sign_in,B2C_1_reset", "*",
        "B2C_1_edit",
    ]

    private static var owners: [String] {
        let owner = TestClaims.owner
        return [
            "", String(owner.dropLast()), owner + "0", " " + owner, owner + " ", String(owner.dropLast()) + "\0",
            String(owner.dropLast()) + "\n", "{\(owner)}", "urn:uuid:\(owner)", String(owner.filter { $0 != "-" }),
            String(owner.filter { $0 != "-" }) + "----", "3cd71a232b14-4f4c-9c35-5dd0c5a6b1b7-",
            "3cd71a23-2b14-4f4c-9c3505dd0c5a6b1b7",
            "gcd71a23-2b14-4f4c-9c35-5dd0c5a6b1b7", "3cd71a23_2b14_4f4c_9c35_5dd0c5a6b1b7", "me", "*",
            "alice@example.com",
            "../../../../../../../../../../../../e", "' OR '1'='1' -- xxxxxxxxxxxxxxxxxx",
            owner.replacing("3", with: "\u{FF13}"), "\u{E9}" + owner.dropFirst(2), "e\u{301}" + owner.dropFirst(3),
            "Not supported currently. Use oid claim.", "%33cd71a23-2b14-4f4c-9c35-5dd0c5a6b1b7",
        ]
    }
}
