import HTTP
import JSON
@testable import MockAuthority
import Support
import Testing

@Suite("Old eras answer as the service did then", .timeLimit(.minutes(15)))
struct EraTests {
    private func mock(_ era: Era) -> TestAuthority {
        var configuration = Configuration()
        configuration.behaviour.era = era
        return TestAuthority(configuration)
    }

    @Test("The preview of 2015 always issues an ID token, with acr and a constant sub")
    func preview() async throws {
        let mock = mock(.preview2015)
        let reply = try await mock.token("\(PasswordGrantTests.form)&scope=\(TestAuthority.clientID)").json()
        #expect(reply["expires_in"]?.string == "3600")
        let profile = try JSONValue(parsing: Token.decode(reply["profile_info"]?.string ?? "")).object
        #expect(profile?["preferred_username"]?.string == "alice@example.com")
        let token = try Token(reply["id_token"]?.string ?? "")
        #expect(token.header.names == ["typ", "alg", "kid"])
        #expect(token.header["kid"]?.string == "IdTokenSigningKeyContainer")
        #expect(token.claims["acr"]?.string == "b2c_1_ropc" && token.claims["tfp"] == nil)
        #expect(token.claims["sub"]?.string == "Not supported currently. Use oid claim.")
        #expect(token.claims["oid"]?.string == "a11ce000-0000-4000-8000-000000000001")
        #expect(token.isSigned(by: try await mock.publicKeys()))
        _ = try await mock.authority.b2c.keys.take(.rotate)
        #expect(try await mock.publicKeys().keys.sorted() == ["IdTokenSigningKeyContainer.v2"])
    }

    @Test("Keys of the preview are never named alike, although retired ones are forgotten after a while")
    func manyRotations() async throws {
        let mock = mock(.preview2015)
        var names = try await mock.publicKeys().keys.sorted()
        for _ in 0..<12 {
            _ = try await mock.authority.b2c.keys.take(.rotate)
            names += try await mock.publicKeys().keys.sorted()
        }
        #expect(names.count == 13 && Set(names).count == 13)
        let token = try await mock.text("user=alice")
        #expect(try Token(token).header["kid"]?.string == names.last)
    }

    @Test("Tokens of applications and their replies are of the era too", arguments: Era.allCases)
    func application(era: Era) async throws {
        let form =
            "grant_type=client_credentials&client_id=\(TestAuthority.confidential)&client_secret=mock-secret"
            + "&scope=https://contoso.onmicrosoft.com/tasks/.default"
        let mock = mock(era)
        let reply = try await mock.token(form, policy: "b2c_1_sign_in").json()
        let claims = try Token(reply["access_token"]?.string ?? "").claims
        let (policy, other) = era == .preview2015 ? ("acr", "tfp") : ("tfp", "acr")
        #expect(claims[policy] == "b2c_1_sign_in" && claims[other] == nil)
        let values = [3600, TestAuthority.now + 3600, TestAuthority.now]
        let (numbers, texts) = (values.map { JSONValue.integer($0) }, values.map { JSONValue.string(String($0)) })
        let names = ["expires_in", "expires_on", "not_before"]
        #expect(names.compactMap { reply[$0] } == (era == .current ? numbers : texts))
        let adal = try await mock.token(form, policy: "b2c_1_sign_in", headers: ["x-client-SKU": "iOS"]).json()
        #expect(names.compactMap { adal[$0] } == texts)
    }

    @Test("The classic era has tfp, strings for numbers, and the old order of headers")
    func classic() async throws {
        let reply = try await mock(.classic).token("\(PasswordGrantTests.form)&scope=\(TestAuthority.clientID)").json()
        #expect(reply["id_token"] == nil && reply["expires_on"]?.string == String(TestAuthority.now + 3600))
        let token = try Token(reply["access_token"]?.string ?? "")
        #expect(token.header.names == ["typ", "alg", "kid"])
        #expect(token.claims["tfp"]?.string == "b2c_1_ropc")
        #expect(token.claims["sub"]?.string == "Not supported currently. Use oid claim.")
    }
}

@Suite("The old iOS clients sign in with the requests that they really send", .timeLimit(.minutes(15)))
struct OldClientTests {
    static let out = "urn%3Aietf%3Awg%3Aoauth%3A2.0%3Aoob"
    static let form: HeaderFields = [
        "Accept": "application/json", "Content-Type": "application/x-www-form-urlencoded",
    ]

    @Test("NXOAuth2: oob, the policy again in the body, an empty secret")
    func nxoauth2() async throws {
        let browser = Browser(TestAuthority())
        let page = try await browser.send(
            .get,
            "/contoso.onmicrosoft.com/oauth2/v2.0/authorize?p=b2c_1_sign_in&response_type=code&client_id=\(TestAuthority.clientID)"
                + "&redirect_uri=\(Self.out)&scope=openid%20\(TestAuthority.clientID)")
        let answer = try await browser.signIn(page)
        #expect(answer.destination == "urn:ietf:wg:oauth:2.0:oob")
        let code = try #require(answer.answer("code"))
        // Its parser wants exactly one `=` in each parameter.
        #expect(!code.contains("="))
        let reply = try await browser.send(
            .post, "/contoso.onmicrosoft.com/oauth2/v2.0/token?p=b2c_1_sign_in",
            body: "p=b2c_1_sign_in&grant_type=authorization_code&client_id=\(TestAuthority.clientID)&client_secret="
                + "&redirect_uri=\(Self.out)&code=\(code)&scope=openid%20\(TestAuthority.clientID)", headers: Self.form
        ).json()
        #expect(reply["token_type"]?.string == "Bearer")
        #expect(try Token(reply["access_token"]?.string ?? "").claims["aud"]?.string == TestAuthority.clientID)
        #expect(reply["refresh_token"] == nil)
    }

    /// What a version of ADAL asks for.
    struct Version: Sendable {
        let name: String
        let scope: String
        /// Before and after the other parameters of the code request and of the token request.
        let front: String
        let more: String
        let bearer: String
    }

    static let versions = [
        // 2015-09: the policy comes from the application, the ID token is the bearer.
        Version(
            name: "2.0.0", scope: "openid%20offline_access", front: "p=b2c_1_sign_in&", more: "", bearer: "id_token"),
        // 3.0.0-pre3: only the client id as scope, still the ID token.
        Version(
            name: "3.0.0-pre3", scope: TestAuthority.clientID, front: "p=b2c_1_sign_in&response_mode=query&", more: "",
            bearer: "id_token"),
        // 3.0.0-pre7: the scope again in the body; the access token if there is one, else the ID token.
        Version(
            name: "3.0.0-pre7", scope: "openid%20offline_access%20profile",
            front: "p=b2c_1_sign_in&response_mode=query&", more: "&scope=openid+offline_access+profile",
            bearer: "id_token"),
    ]

    @Test(
        "ADAL: each of its versions finds the bearer token where it looks, in each era", arguments: versions,
        Era.allCases)
    func adal(version: Version, era: Era) async throws {
        var configuration = Configuration()
        configuration.behaviour.era = era
        let browser = Browser(TestAuthority(configuration))
        let page = try await browser.send(
            .get,
            "/contoso.onmicrosoft.com/oauth2/v2.0/authorize?\(version.front)response_type=code"
                + "&client_id=\(TestAuthority.clientID)&scope=\(version.scope)&redirect_uri=\(Self.out)&state=YT1i"
                + "&x-client-SKU=iOS&x-client-Ver=\(version.name)&login_hint=alice%40example.com&prompt=login")
        let answer = try await browser.signIn(page)
        #expect(answer.answer("state") == "YT1i")
        let code = try #require(answer.answer("code"))
        var headers = Self.form
        for (name, value) in [
            ("x-ms-PkeyAuth", "1.0"), ("client-request-id", "d1c7df34-8b90-4e1f-9d37-7a9ebd1d805a"),
            ("return-client-request-id", "true"), ("x-client-SKU", "iOS"), ("x-client-Ver", version.name),
        ] { headers.append(name, value) }
        let response = try await browser.send(
            .post, "/contoso.onmicrosoft.com/oauth2/v2.0/token?p=b2c_1_sign_in&x-client-Ver=\(version.name)",
            body: "grant_type=authorization_code&code=\(code)&client_id=\(TestAuthority.clientID)"
                + "&redirect_uri=\(Self.out)\(version.more)",
            headers: headers)
        #expect(response.headers["client-request-id"] == "d1c7df34-8b90-4e1f-9d37-7a9ebd1d805a")
        let reply = try response.json()
        let token = try Token(reply[version.bearer]?.string ?? "")
        #expect(token.claims["aud"]?.string == TestAuthority.clientID && token.claims["oid"] != nil)
        #expect(token.claims[era == .preview2015 ? "acr" : "tfp"] == "b2c_1_sign_in")
        let profile = try JSONValue(parsing: Token.decode(reply["profile_info"]?.string ?? "")).object
        #expect(profile?["preferred_username"] == "alice@example.com" && profile?["name"] == "Alice Example")
    }
}
