import JSON
import Support
import Testing
import Tokens

@Suite("Metadata of a provider is trusted only if it fits its address (V-74)")
struct ProviderMetadataTests {
    static let tenant = "775527ff-9a37-4307-8b3d-cc311f58d925"
    static let base = "https://contoso.b2clogin.com/contoso.onmicrosoft.com/b2c_1_sign_in"
    static let good: JSONObject = [
        "issuer": .string(TestClaims.issuer),
        "authorization_endpoint": .string("\(base)/oauth2/v2.0/authorize"),
        "token_endpoint": .string("\(base)/oauth2/v2.0/token"),
        "end_session_endpoint": .string("\(base)/oauth2/v2.0/logout"),
        "jwks_uri": .string("\(base)/discovery/v2.0/keys"),
        "response_types_supported": ["code", "id_token"],
    ]
    let rules = MetadataRules(metadataURL: "\(base)/v2.0/.well-known/openid-configuration")

    private func metadata(_ object: JSONObject = good) throws(MetadataError) -> ProviderMetadata {
        try ProviderMetadata(parsing: JSONValue.object(object).serialized())
    }

    private func error(with name: String, _ value: JSONValue?, _ rules: MetadataRules? = nil) -> MetadataError? {
        thrown { () throws(MetadataError) in
            try metadata(Self.good.with(name, value)).check(against: rules ?? self.rules)
        }
    }

    @Test func `Issuer and address of the key set are read`() throws {
        let metadata = try metadata()
        try metadata.check(against: rules)
        #expect(metadata.issuer == TestClaims.issuer)
        #expect(metadata.keySetURL == "\(Self.base)/discovery/v2.0/keys")
    }

    @Test func `The error names the missing member`() {
        #expect(error(with: "issuer", nil) == .missingIssuer)
        #expect(error(with: "issuer", ["x"]) == .missingIssuer)
        #expect(error(with: "issuer", "") == .missingIssuer)
        #expect(error(with: "jwks_uri", nil) == .missingKeySetURL)
        #expect(error(with: "jwks_uri", .null) == .missingKeySetURL)
        for text in ["", "[]", "<html>", #"{"issuer":"a","issuer":"b","jwks_uri":"c"}"#] {
            #expect(throws: MetadataError.notJSON) { try ProviderMetadata(parsing: Array(text.utf8)) }
        }
    }

    @Test(
        arguments: [
            ("contoso", .malformedIssuer), ("ftp://contoso.b2clogin.com/", .malformedIssuer),
            ("http://contoso.b2clogin.com/", .insecureIssuer), ("https://evil.example/", .foreignIssuer),
            ("https://contoso.b2clogin.com.evil.example/", .foreignIssuer),
            ("https://contoso.b2clogin.com@evil.example/", .malformedIssuer),
            ("https://evil.example\\@contoso.b2clogin.com/", .malformedIssuer),
        ] as [(String, MetadataError)])
    func `An issuer on another host is not trusted`(issuer: String, expected: MetadataError) {
        #expect(error(with: "issuer", .string(issuer)) == expected)
    }

    @Test func `The issuer contains the configured tenant`() {
        var rules = rules
        rules.tenantIdentifier = Self.tenant.uppercased()
        rules.demandsOwnIssuer = false
        #expect(error(with: "issuer", .string(TestClaims.issuer), rules) == nil)
        #expect(
            error(with: "issuer", "https://contoso.b2clogin.com/00000000-0000-0000-0000-000000000000/v2.0/", rules)
                == .foreignTenant)
        #expect(
            error(with: "issuer", .string("https://contoso.b2clogin.com/x\(Self.tenant)/"), rules) == .foreignTenant)
    }

    @Test(
        arguments: [
            ("/keys", .malformedKeySetURL), ("file:///etc/passwd", .malformedKeySetURL),
            ("https://", .malformedKeySetURL), ("https://a:b/", .malformedKeySetURL),
            ("https://contoso.b2clogin.com:99999/", .malformedKeySetURL), ("https://[::1/", .malformedKeySetURL),
            ("https://contoso.b2clogin.com /", .malformedKeySetURL),
            ("https://b\u{FC}cher.example/", .malformedKeySetURL),
            ("http://contoso.b2clogin.com/keys", .insecureKeySetURL), ("http://127.0.0.1/keys", .insecureKeySetURL),
            ("https://keys.evil.example/", .foreignKeySetURL),
        ] as [(String, MetadataError)])
    func `A key set on another host, or over plain http, is not trusted`(url: String, expected: MetadataError) {
        #expect(error(with: "jwks_uri", .string(url)) == expected)
    }

    @Test func `Hosts are compared without case and port`() {
        #expect(error(with: "jwks_uri", "HTTPS://Contoso.B2CLogin.com:443/keys") == nil)
        #expect(error(with: "jwks_uri", "https://contoso.b2clogin.com?p=b2c_1_sign_in") == nil)
    }

    @Test(
        "Plain http is allowed from the loopback only, unless the settings allow it",
        arguments: [
            ("http://localhost:3001", true), ("http://127.0.0.1:3001", true), ("http://127.1.2.3", true),
            ("http://[::1]:3001", true), ("http://mock:3001", false), ("http://127.0.0.1.evil.example", false),
            ("http://localhost.evil.example", false), ("http://127.1", false), ("http://10.0.0.1", false),
        ] as [(String, Bool)])
    func plainHTTPIsForTheLoopback(origin: String, taken: Bool) throws {
        let metadata = try metadata(["issuer": .string("\(origin)/v2.0/"), "jwks_uri": .string("\(origin)/keys")])
        var rules = MetadataRules(metadataURL: "\(origin)/v2.0/.well-known/openid-configuration")
        if taken {
            try metadata.check(against: rules)
        } else {
            #expect(throws: MetadataError.insecureSource) { try metadata.check(against: rules) }
        }
        rules.allowHTTP = true
        try metadata.check(against: rules)
    }

    @Test(
        arguments: [
            ("https://localhost:8443", "http://127.0.0.1:3001/v2.0/", nil),
            ("https://127.0.0.1:8443", "http://[::1]:3001/v2.0/", nil),
            ("http://[::1]:3001", "https://localhost:8443/v2.0/", nil),
            ("https://contoso.example", "http://127.0.0.1:3001/v2.0/", .foreignIssuer),
            ("https://localhost:8443", "https://contoso.example/v2.0/", .foreignIssuer),
            ("https://localhost:8443", "https://localhost.contoso.example/v2.0/", .foreignIssuer),
            ("https://localhost:8443", "http://contoso.example/v2.0/", .insecureIssuer),
        ] as [(String, String, MetadataError?)])
    func `The names of the loopback are one host`(origin: String, issuer: String, expected: MetadataError?) {
        let rules = MetadataRules(
            metadataURL: "\(origin)/.well-known/openid-configuration", demandsOwnIssuer: false)
        let found = thrown { () throws(MetadataError) in
            try metadata(["issuer": .string(issuer), "jwks_uri": .string("\(origin)/keys")]).check(against: rules)
        }
        #expect(found == expected)
    }

    @Test func `Each error has a message of its own`() {
        let messages = MetadataError.allCases.map { error in error.message { "TASKS_\($0)" } }
        #expect(Set(messages).count == MetadataError.allCases.count)
    }
}
