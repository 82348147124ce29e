import JSON
import Support
import Testing
import Tokens

@Suite(
    "The address of metadata shows provider and policy before the document is fetched (V-73, V-74)",
)
struct MetadataLocationTests {
    private static let document = ".well-known/openid-configuration"
    private static let tenant = "775527ff-9a37-4307-8b3d-cc311f58d925"
    private static let other = "00000000-1111-2222-3333-444444444444"

    private func location(_ url: String) throws -> MetadataLocation {
        try #require(MetadataLocation(url))
    }

    @Test(
        "The policy of a B2C address is in path or query, on B2C's own hosts and on others (V-73)",
        arguments: [
            "https://contoso.b2clogin.com/contoso.onmicrosoft.com/b2c_1_sign_in/v2.0/\(document)": "b2c_1_sign_in",
            "https://contoso.b2clogin.com/tfp/contoso.onmicrosoft.com/B2C_1A_Sign_In/v2.0/\(document)":
                "B2C_1A_Sign_In",
            "https://contoso.b2clogin.com/contoso.onmicrosoft.com/v2.0/\(document)?p=b2c_1_sign_in": "b2c_1_sign_in",
            "https://contoso.b2clogin.com/contoso.onmicrosoft.com/v2.0/\(document)?x=1&P=b2c_1_sign_in":
                "b2c_1_sign_in",
            "https://contoso.b2clogin.cn/contoso.onmicrosoft.com/odd/v2.0/\(document)": "odd",
            "https://login.contoso.com/\(tenant)/b2c_1_sign_in/v2.0/\(document)": "b2c_1_sign_in",
            "https://login.microsoftonline.com/te/contoso.onmicrosoft.com/b2c_1_x/v2.0/\(document)": "b2c_1_x",
            "http://127.0.0.1:3001/contoso.onmicrosoft.com/b2c_1_sign_in/v2.0/\(document)": "b2c_1_sign_in",
            "https://login.contoso.com/\(tenant)/v2.0/\(document)": nil,
            "https://login.contoso.com/\(tenant)/v2.0/\(document)?p=page": nil,
            "https://id.example.com/\(document)": nil,
            "https://id.example.com/realms/a/\(document)": nil,
        ] as [String: String?])
    func policies(url: String, policy: String?) throws {
        let location = try location(url)
        #expect(location.policy == policy)
        #expect(!location.lacksPolicy && !location.namesSeveralPolicies)
    }

    @Test func `An address of B2C that names no policy or two is recognized (V-73)`() throws {
        let base = "https://contoso.b2clogin.com/contoso.onmicrosoft.com"
        #expect(try location("\(base)/v2.0/\(Self.document)").lacksPolicy)
        #expect(try location("\(base)/v2.0/\(Self.document)?p=").lacksPolicy)
        for url in [
            "\(base)/b2c_1_a/v2.0/\(Self.document)?p=b2c_1_b", "\(base)/v2.0/\(Self.document)?p=b2c_1_a&p=b2c_1_b",
        ] {
            #expect(try location(url).namesSeveralPolicies)
            #expect(try location(url).policy == nil)
        }
        #expect(try location("\(base)/b2c_1_a/v2.0/\(Self.document)?p=B2C_1_A").policy?.lowercased() == "b2c_1_a")
        #expect(try !location("\(base)/b2c_1_a/v2.0/\(Self.document)?p=B2C_1_A").namesSeveralPolicies)
        #expect(MetadataLocation("ftp://contoso.b2clogin.com/") == nil)
    }

    @Test(arguments: [
        ("https://h.example/t/b2c_1_a/v2.0", "https://h.example/t/b2c_1_b/v2.0", true),
        ("https://h.example/t/b2c_1_a/v2.0", "https://H.example:443/T/B2C_1_b/v2.0", true),
        ("https://h.example/t/b2c_1_a/v2.0", "https://h.example/tfp/t/b2c_1_b/v2.0", true),
        ("https://h.example/realms/a", "https://h.example/realms/a", true),
        ("https://h.example/t/b2c_1_a/v2.0", "https://h.example/u/b2c_1_a/v2.0", false),
        ("https://h.example/t/b2c_1_a/v2.0", "https://i.example/t/b2c_1_b/v2.0", false),
        ("https://h.example/t/b2c_1_a/v2.0", "https://h.example:8443/t/b2c_1_b/v2.0", false),
        ("https://h.example/t/b2c_1_a/v2.0", "http://h.example/t/b2c_1_b/v2.0", false),
        ("https://h.example/realms/a", "https://h.example/realms/b", false),
        ("https://h.example/realms/a", "https://h.example/realms/A", false),
        ("https://h.example/realms/a", "https://h.example/realms", false),
        ("https://h.example/te/a", "https://h.example/a", false),
        ("https://h.example/a/v2.0", "https://h.example/a", false),
        ("https://a.example", "https://b.example", false),
    ])
    func `Two addresses are of one provider, or not (V-74)`(first: String, second: String, isSame: Bool) throws {
        let locations = try [first, second].map { try location("\($0)/\(Self.document)") }
        #expect(locations[0].isSameProvider(as: locations[1]) == isSame)
        #expect(locations[1].isSameProvider(as: locations[0]) == isSame)
    }

    /// OpenID Connect Discovery 1.0 section 4.3, RFC 8414 section 3.3, and Microsoft's forms.
    @Test(
        "Metadata whose issuer does not belong to its address is not trusted (V-74)",
        arguments: [
            ("https://h.example/\(document)", "https://h.example", true),
            ("https://h.example/\(document)", "https://h.example/", true),
            ("https://h.example/realms/a/\(document)", "https://H.example:443/realms/a", true),
            ("https://h.example/.well-known/oauth-authorization-server/realms/a", "https://h.example/realms/a", true),
            ("https://h.example/application/o/app/\(document)", "https://h.example/", true),
            ("https://h.example/t/b2c_1_a/v2.0/\(document)", "https://h.example/\(tenant)/v2.0/", true),
            ("https://h.example/t/b2c_1_a/v2.0/\(document)", "https://h.example/tfp/\(tenant)/B2C_1_A/v2.0/", true),
            ("https://h.example/t/v2.0/\(document)?p=b2c_1_a", "https://h.example/\(tenant)/v2.0/", true),
            ("https://h.example/tfp/t/b2c_1_a/v2.0/\(document)", "https://h.example/\(tenant)/v2.0/", true),
            ("https://h.example/t/b2c_1_a/v2.0/\(document)", "https://h.example/t/v2.0/", true),
            ("https://h.example/contoso.com/v2.0/\(document)", "https://h.example/\(tenant)/v2.0", true),
            ("https://h.example/\(tenant)/v2.0/\(document)", "https://h.example/\(tenant)/v2.0", true),
            // The neighbour on the same host, another port, another scheme.
            ("https://h.example/realms/a/\(document)", "https://h.example/realms/b", false),
            ("https://h.example/realms/a/\(document)", "https://h.example/realms/A", false),
            ("https://h.example/realms/a/\(document)", "https://h.example/realms/ab", false),
            ("https://h.example/realms/a/\(document)", "https://h.example/realms/a/b", false),
            ("https://h.example/realms/a/\(document)", "https://h.example/realms/b/../a", false),
            ("https://h.example/realms/a/\(document)", "https://h.example/realms/a?x", false),
            ("https://h.example/realms/a/\(document)", "https://h.example/realms/a#x", false),
            ("https://h.example/realms/a/\(document)", "https://h.example//realms/a", false),
            ("https://h.example/\(document)", "https://h.example:8443", false),
            ("http://localhost:3001/\(document)", "http://localhost:3002", false),
            ("http://localhost:3001/\(document)", "https://localhost:3001", false),
            ("https://h.example/.well-known/oauth-authorization-server/realms/a", "https://h.example/realms/b", false),
            ("https://h.example/\(other)/v2.0/\(document)", "https://h.example/\(tenant)/v2.0", false),
            ("https://h.example/\(other)/b2c_1_a/v2.0/\(document)", "https://h.example/\(tenant)/v2.0/", false),
            ("https://h.example/t/b2c_1_a/v2.0/\(document)", "https://h.example/u/v2.0/", false),
            ("https://h.example/t/b2c_1_a/v2.0/\(document)", "https://h.example/tfp/\(tenant)/b2c_1_b/v2.0/", false),
            ("https://h.example/t/b2c_1_a/v2.0/\(document)", "https://h.example/\(tenant)/", false),
            ("https://h.example/a/b/c/\(document)", "https://h.example/\(tenant)/v2.0", false),
        ])
    func ownership(url: String, issuer: String, isOwn: Bool) throws {
        let parts: JSONObject = ["issuer": .string(issuer), "jwks_uri": .string(url)]
        let metadata = try ProviderMetadata(parsing: JSONValue.object(parts).serialized())
        var rules = MetadataRules(metadataURL: url)
        if isOwn {
            try metadata.check(against: rules)
        } else {
            #expect(throws: MetadataError.unrelatedIssuer) { try metadata.check(against: rules) }
        }
        // An issuer that the settings name is not compared with the address.
        rules.pinnedIssuer = issuer
        try metadata.check(against: rules)
    }

    @Test(
        "Two issuers are of one tenant, or of two, or that is not known (V-74)",
        arguments: [
            ("https://h/\(tenant)/v2.0/", "https://h/\(tenant)/v2.0/", true),
            ("https://h/\(tenant)/v2.0/", "https://h/tfp/\(tenant)/b2c_1_a/v2.0/", true),
            ("https://h/tfp/\(tenant)/b2c_1_b/v2.0/", "https://h/tfp/\(tenant)/b2c_1_a/v2.0/", true),
            ("any", "any", true),
            ("https://h/\(tenant)/v2.0/", "https://h/\(other)/v2.0/", false),
            ("https://h/\(tenant)/v2.0/", "https://i/\(tenant)/v2.0/", nil),
            ("https://h/\(tenant)/v2.0/", "https://h/tfp/\(other)/b2c_1_a/v2.0/", false),
            ("https://h/contoso/v2.0/", "https://h/tfp/contoso/b2c_1_a/v2.0/", nil),
            ("https://h/realms/a", "https://h/realms/a/", nil), ("any", "Any", nil),
            ("https://h/\u{E9}", "https://h/e\u{301}", nil),
        ] as [(String, String, Bool?)])
    func tenants(first: String, second: String, isSame: Bool?) {
        #expect(MetadataLocation.isSameTenant(first, second) == isSame)
        #expect(MetadataLocation.isSameTenant(second, first) == isSame)
    }
}
