import HTTP
import JSON
@testable import MockAuthority
import Support
import Testing

@Suite("Token responses follow the client library where it says what it is")
struct ClientLibraryTests {
    private static let form = "\(PasswordGrantTests.form)&scope=\(TestAuthority.clientID)"

    private func reply(_ mock: TestAuthority, from product: String?) async throws -> JSONObject {
        var headers = HeaderFields()
        if let product { headers.append("X-Client-SKU", product) }
        return try await mock.token(Self.form, headers: headers).json()
    }

    private func preferredName(_ reply: JSONObject) throws -> JSONValue? {
        try JSONValue(parsing: Token.decode(reply.text("profile_info"))).object?["preferred_username"]
    }

    @Test(arguments: ["iOS", "OSX", "Android", "PCL.Desktop", "ios"], Era.allCases)
    func `ADAL gets the response of its time, of whatever era the tokens are`(product: String, era: Era) async throws {
        let reply = try await reply(TestAuthority { $0.behaviour.era = era }, from: product)
        #expect(!reply.members.contains { $0.value == .null })
        #expect(try preferredName(reply) == "alice@example.com")
        #expect(reply["expires_in"] == "3600")
        let (identity, access) = try (reply.token("id_token"), reply.token("access_token"))
        for token in [identity, access] {
            let subject = era == .current ? User.defaults[0].objectID : "Not supported currently. Use oid claim."
            #expect(token.claims["sub"]?.string == subject)
            #expect((token.claims["acr"] != nil) == (era == .preview2015))
            #expect((token.claims["tfp"] != nil) == (era != .preview2015))
            #expect((token.header.names == ["alg", "kid", "typ"]) == (era == .current))
        }
    }

    @Test(
        arguments: [nil, "MSAL.Python", "MSAL.iOS", "MSAL.Desktop", "msal.js.browser", "ID_NET", "iOS 9", ""],
        Era.allCases)
    func `The era of the settings decides for every other client`(product: String?, era: Era) async throws {
        let reply = try await reply(TestAuthority { $0.behaviour.era = era }, from: product)
        #expect((reply["id_token"] != nil) == (era == .preview2015))
        #expect(try preferredName(reply) == (era == .preview2015 ? "alice@example.com" : .null))
        #expect(reply["expires_in"] == (era == .current ? 3600 : "3600"))
    }

    @Test func `The name of the person is in lower case, as ADAL compares it, and never empty`() async throws {
        var person = User.defaults[0]
        for (email, name) in [("Alice@Example.com", "alice@example.com"), ("", person.objectID)] {
            person.email = email
            var configuration = Configuration()
            configuration.users = [person]
            let target = "/_mock/token?user=\(person.objectID)"
            // The controls answer by the era of the settings, whoever asks.
            let answer = try await TestAuthority(configuration).get(
                target, ["Accept": "application/json", "x-client-SKU": "iOS"])
            #expect(try preferredName(answer.json()) == .null)
            configuration.behaviour.era = .preview2015
            let preview = try await TestAuthority(configuration).get(target, ["Accept": "application/json"])
            #expect(try preferredName(preview.json()) == .string(name))
        }
    }
}

@Suite("A token request that names no policy is under that of its grant")
struct PolicyOfGrantTests {
    private static let endpoint = "/contoso.onmicrosoft.com/oauth2/v2.0/token"
    private static let client = "client_id=\(TestAuthority.clientID)"
    private static let form: HeaderFields = ["Content-Type": "application/x-www-form-urlencoded"]
    private static let out = "urn%3Aietf%3Awg%3Aoauth%3A2.0%3Aoob"

    private func code(_ browser: Browser) async throws -> String {
        let page = try await browser.send(
            .get,
            "/contoso.onmicrosoft.com/oauth2/v2.0/authorize?response_type=code&\(Self.client)&p=b2c_1_sign_in"
                + "&scope=openid+offline_access&redirect_uri=\(Self.out)")
        return try #require(try await browser.signIn(page).answer("code"))
    }

    private func send(_ browser: Browser, _ body: String, query: String = "") async throws -> Response {
        try await browser.send(.post, Self.endpoint + query, body: "\(Self.client)&\(body)", headers: Self.form)
    }

    @Test("The policy is that of a code, then that of its refresh token, and a code works once here, too")
    func grants() async throws {
        let browser = Browser(TestAuthority())
        let redeem = "grant_type=authorization_code&code=\(try await code(browser))&redirect_uri=\(Self.out)"
        let reply = try await send(browser, redeem).json()
        #expect(try reply.token("id_token").claims["tfp"] == "b2c_1_sign_in")
        let refresh = "grant_type=refresh_token&refresh_token=\(reply.text("refresh_token"))"
        #expect(try await send(browser, refresh, query: "?x-client-Ver=2.0.0").status == 200)
        #expect(try await send(browser, redeem).text.contains("AADB2C90129"))
    }

    @Test func `A policy that is named counts, and one in the URL more than one in the body`() async throws {
        let browser = Browser(TestAuthority())
        let redeem = "grant_type=authorization_code&code=\(try await code(browser))&redirect_uri=\(Self.out)"
        let other = try await send(browser, "\(redeem)&p=b2c_1_sign_up")
        #expect(other.status == 400 && other.text.contains("AADB2C90088"))
        #expect(try await send(browser, "\(redeem)&p=b2c_1_sign_in", query: "?p=b2c_1_facebook").status == 400)
        #expect(try await send(browser, "\(redeem)&p=b2c_1_sign_in").status == 200)
    }

    @Test(arguments: [
        "grant_type=authorization_code&code=none", "grant_type=refresh_token&refresh_token=a..b.c.d",
        "p=b2c_1_none", "grant_type=password&username=alice@example.com&password=Passw0rd!&scope=openid", "",
    ])
    func `Without a grant of ours, the answer is the page for an unknown policy`(body: String) async throws {
        let answer = try await send(Browser(TestAuthority()), body)
        #expect(answer.status == 404 && answer.text.contains("AADB2C90022"))
        #expect(try await TestAuthority().get(Self.endpoint).status == 404)
    }

    @Test func `Faults and the record of requests include such a request`() async throws {
        let mock = TestAuthority()
        let browser = Browser(mock)
        let redeem = "grant_type=authorization_code&code=\(try await code(browser))&redirect_uri=\(Self.out)"
        _ = try await mock.ask(.post, "/_mock/faults", body: #"{"at":"token","status":503}"#)
        #expect(try await send(browser, redeem).status == 503)
        #expect(try await send(browser, redeem).status == 200)
        let record = try await mock.get("/_mock/requests").text
        #expect(record.contains("grant_type=authorization_code") && record.contains(#""status":503"#))
    }
}
