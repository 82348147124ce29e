import Basics
import HTTP
import JSON
@testable import MockAuthority
import OpenSSL
import Support
import Testing

@Suite("People and clients get tokens of External ID as of the service")
struct EntraFlowTests {
    let mock = TestAuthority.all()
    static let front = "/\(EntraTenants.id)"
    static let who = "client_id=\(EntraTenants.client)"
    static let daemon = "client_id=\(EntraTenants.external.applications.clients[1].id)&client_secret=mock-secret"
    static let verifier = "dBjFtJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk-0123456789"
    static let challenge = Base64URL.encode(SHA256.digest(Array(verifier.utf8)))
    static let scope = "openid+profile+offline_access+api://\(EntraTenants.api)/Tasks.Read"
    static let request =
        "\(who)&response_type=code&redirect_uri=http://localhost&state=s&nonce=n&client_info=1"
        + "&code_challenge=\(challenge)&code_challenge_method=S256&scope=\(scope)"

    private func token(_ body: String, _ mock: TestAuthority? = nil) async throws -> Response {
        try await (mock ?? self.mock).ask(.post, "\(Self.front)/oauth2/v2.0/token", body: body)
    }

    /// Signs alice in and gives the code.
    private func code(_ mock: TestAuthority) async throws -> String {
        let browser = Browser(mock)
        let page = try await browser.send(.get, "\(Self.front)/oauth2/v2.0/authorize?\(Self.request)")
        let answer = try await browser.signIn(page)
        return try #require(answer.answer("code"))
    }

    private func redeem(_ code: String) -> String {
        "\(Self.who)&grant_type=authorization_code&redirect_uri=http://localhost&code=\(code)&client_info=1"
            + "&code_verifier=\(Self.verifier)"
    }

    @Test func `A person signs in with proof keys, and the tokens renew`() async throws {
        let browser = Browser(mock)
        let page = try await browser.send(.get, "\(Self.front)/oauth2/v2.0/authorize?\(Self.request)")
        #expect(page.status == 200 && !page.text.contains("var SETTINGS") && !page.text.contains("Forgot"))
        #expect(browser.cookies.isEmpty)
        let answer = try await browser.signIn(page)
        #expect(answer.destination == "http://localhost/" && answer.answer("state") == "s")
        let reply = try await token(redeem(try #require(answer.answer("code")))).json()
        #expect(
            reply.names == [
                "token_type", "scope", "expires_in", "ext_expires_in", "access_token", "refresh_token", "id_token",
                "client_info",
            ])
        #expect(reply["scope"]?.string == "openid profile api://\(EntraTenants.api)/Tasks.Read")
        let access = try reply.token("access_token").claims
        #expect(reply["expires_in"]?.integer == (access["exp"]?.integer ?? 0) - TestAuthority.now)
        let identity = try reply.token("id_token").claims
        #expect(identity["nonce"] == "n" && access["nonce"] == nil && identity["at_hash"] == nil)
        // P-39: `client_info` is the object id and the tenant id, without a policy.
        let information = try JSONValue(parsing: Token.decode(reply.text("client_info"))).object
        #expect(information?["uid"]?.string == EntraTenants.external.users[0].objectID)
        #expect(information?["utid"]?.string == EntraTenants.id && information?.names == ["uid", "utid"])
        let renewed = try await token(
            "\(Self.who)&grant_type=refresh_token&refresh_token=\(reply.text("refresh_token"))"
        ).json()
        #expect(renewed["access_token"] != reply["access_token"] && renewed["refresh_token"] != nil)
        let again = try await browser.send(.get, "\(Self.front)/oauth2/v2.0/authorize?\(Self.request)&prompt=none")
        #expect(again.answer("code") != nil)
    }

    @Test func `The prompt create opens the form for new people`() async throws {
        let browser = Browser(mock)
        let page = try await browser.send(.get, "\(Self.front)/oauth2/v2.0/authorize?\(Self.request)&prompt=create")
        #expect(try await browser.signUp(page, "carol@example.com", "Carol").answer("code") != nil)
        #expect(try await mock.get("/_mock/token?user=carol@example.com&profile=external-id").status == 200)
        #expect(try await mock.get("/_mock/token?user=carol@example.com").status == 400)
        // Somebody is signed in now, and the form opens all the same.
        let target = "\(Self.front)/oauth2/v2.0/authorize?\(Self.request)"
        #expect(try await browser.send(.get, target).answer("code") != nil)
        let again = try await browser.send(.get, "\(target)&prompt=create")
        #expect(again.status == 200 && again.text.contains("name=\"newPassword\""))
    }

    @Test(
        "With scopes of OpenID Connect alone, the access token is for Microsoft Graph, and is shown among those issued")
    func graph() async throws {
        let mock = TestAuthority.all { $0.passwordGrant = true }
        let form = "\(Self.who)&grant_type=password&username=alice@example.com&password=Passw0rd!&scope=openid+profile"
        let reply = try await token(form, mock).json()
        let access = try reply.token("access_token")
        #expect(access.claims["aud"] == "00000003-0000-0000-c000-000000000000" && access.header["nonce"] != nil)
        #expect(!access.isSigned(by: try await mock.keys(at: "\(Self.front)/discovery/v2.0/keys")))
        let issued = mock.authority.others[0].runs.unnamed.issuedTokens.after(0).map(\.entry.token)
        #expect(Set(issued) == Set(["access_token", "id_token"].compactMap { reply[$0]?.string }) && issued.count == 2)
    }

    @Test func `The authorization endpoint gives a token for Graph too, whose hash is in the ID token`() async throws {
        let browser = Browser(mock)
        let query =
            "\(Self.who)&response_type=id_token+token&redirect_uri=http://localhost&nonce=n&scope=openid+profile"
        let answer = try await browser.signIn(
            try await browser.send(.get, "\(Self.front)/oauth2/v2.0/authorize?\(query)"))
        let access = try #require(answer.answer("access_token"))
        #expect(try Token(access).claims["aud"] == "00000003-0000-0000-c000-000000000000")
        #expect(answer.answer("token_type") == "Bearer" && answer.answer("scope") == "openid profile")
        let hash = Base64URL.encode(Array(SHA256.digest(Array(access.utf8)).prefix(16)))
        #expect(try Token(answer.answer("id_token") ?? "").claims["at_hash"]?.string == hash)
    }

    @Test("A daemon gets a token of its own, without a person, and one for Graph without roles of the tasks")
    func application() async throws {
        let reply = try await token(
            "\(Self.daemon)&grant_type=client_credentials&scope=api://\(EntraTenants.api)/.default"
        ).json()
        #expect(reply.names == ["token_type", "expires_in", "ext_expires_in", "access_token"])
        let claims = try reply.token("access_token").claims
        #expect(claims["scp"] == nil && claims["oid"] == claims["sub"] && claims["azpacr"] == "1")
        let scope = "https://graph.microsoft.com/.default"
        let graph = try await token("\(Self.daemon)&grant_type=client_credentials&scope=\(scope)").json()
            .token("access_token")
        #expect(graph.claims["aud"] == "00000003-0000-0000-c000-000000000000" && graph.claims["roles"] == nil)
        #expect(graph.header["nonce"] != nil)
    }

    @Test func `P-40: The password grant is refused unless it is switched on`() async throws {
        let form = "\(Self.who)&grant_type=password&username=alice@example.com&password=Passw0rd!&scope=\(Self.scope)"
        let refused = try await token(form)
        #expect(try refused.status == 400 && refused.json()["error"] == "unauthorized_client")
        #expect(try await token(form, .all { $0.passwordGrant = true }).status == 200)
    }

    private static let ofDaemon = "\(daemon)&grant_type=client_credentials"
    private static let ofOther = "client_id=\(EntraTenants.external.applications.clients[1].id)"
    static let cases = [
        WrongRequest(who, "invalid_request", "900144"),
        WrongRequest("grant_type=refresh_token&client_id=x", "unauthorized_client", "700016"),
        WrongRequest("\(who)&grant_type=dance", "unsupported_grant_type", "70003"),
        WrongRequest("\(who)&grant_type=refresh_token&refresh_token=x", "invalid_grant", "70000"),
        WrongRequest("\(who)&client_secret=x&grant_type=password", "invalid_client", "700025"),
        WrongRequest("\(daemon)x&grant_type=client_credentials", "invalid_client", "7000215"),
        WrongRequest("\(ofOther)&grant_type=client_credentials", "invalid_client", "7000218"),
        WrongRequest("\(ofDaemon)&scope=api://\(EntraTenants.api)/Tasks.Read", "invalid_scope", "1002012"),
        WrongRequest("\(ofDaemon)&scope=api://other/.default", "invalid_resource", "500011"),
        WrongRequest("\(ofDaemon)&scope=\(EntraTenants.client)", "invalid_scope", "1002012"),
    ]

    @Test("P-37: Each wrong request has its error, with error_codes equal to the number in the text", arguments: cases)
    func refusals(_ mistake: WrongRequest) async throws {
        let correlation = "d1c7df34-8b90-4e1f-9d37-7a9ebd1d805a"
        let response = try await mock.ask(
            .post, "\(Self.front)/oauth2/v2.0/token", body: mistake.parameters,
            headers: ["client-request-id": correlation])
        #expect(response.status == (mistake.error == "invalid_client" ? 401 : 400))
        let error = try response.json()
        let names = ["error", "error_description", "error_codes", "timestamp", "trace_id", "correlation_id"]
        #expect(error.names == names + (mistake.code == "1002012" ? [] : ["error_uri"]))
        let number = try #require(Int64(mistake.code))
        #expect(error["error"]?.string == mistake.error && error["error_codes"] == [.integer(number)])
        let text = error.text("error_description")
        #expect(text.hasPrefix("AADSTS\(mistake.code): "))
        let trace = error.text("trace_id")
        #expect(
            text.hasSuffix(
                " Trace ID: \(trace) Correlation ID: \(correlation) Timestamp: 2023-11-14 22:13:20Z"))
        #expect(response.headers["x-ms-request-id"] == trace)
        #expect(error["correlation_id"]?.string == correlation && error["timestamp"] == "2023-11-14 22:13:20Z")
    }

    @Test("P-37: A grant that is used twice, late, by another client or without its proof key has its number")
    func grants() async throws {
        func number(_ body: String) async throws -> JSONValue? {
            try await token(body).json()["error_codes"]?.array?.first
        }
        // Refresh tokens of a page end a day after the sign-in.
        let ofPage = try await mock.ask(
            .post, "\(Self.front)/oauth2/v2.0/token", body: redeem(try await code(mock)),
            headers: ["Origin": "http://localhost:3000"]
        ).json().text("refresh_token")
        mock.clock.advance(seconds: 86_400)
        #expect(try await number("\(Self.who)&grant_type=refresh_token&refresh_token=\(ofPage)") == 700_084)
        let form = redeem(try await code(mock))
        let verifier = "&code_verifier=\(Self.verifier)"
        #expect(try await number(String(form.dropLast(verifier.count)) + "&code_verifier=x") == 501_481)
        #expect(try await token(form).status == 200)
        #expect(try await number(form) == 54005)
        let late = redeem(try await code(mock))
        mock.clock.advance(seconds: 3600)
        #expect(try await number(late) == 70008)
        let reply = try await token(redeem(try await code(mock))).json()
        let refresh = "&grant_type=refresh_token&refresh_token=\(reply.text("refresh_token"))"
        #expect(try await number(Self.daemon + refresh) == 70000)
        _ = try await mock.ask(.post, "/_mock/revoke?profile=external-id", body: #"{"user":"alice"}"#)
        #expect(try await number(Self.who + refresh) == 50173)
        mock.clock.advance(seconds: 91 * 86400)
        #expect(try await number(Self.who + refresh) == 700_082)
    }

    @Test(
        "P-37: A page tells of a wrong redirect URI, and the client of other mistakes; a token is asked for by POST")
    func authorizationErrors() async throws {
        let target = "\(Self.front)/oauth2/v2.0/authorize?\(Self.who)&response_type=code&scope=openid"
        let page = try await mock.get("\(target)&redirect_uri=https://evil.example")
        #expect(page.status == 400 && page.text.contains("AADSTS50011") && page.headers["Location"] == nil)
        let none = try await mock.get("\(target)&redirect_uri=http://localhost&prompt=none&state=s")
        #expect(none.answer.map(\.name) == ["error", "error_description", "error_uri", "state"])
        #expect(none.answer("error") == "login_required")
        #expect(none.answer("error_description")?.hasPrefix("AADSTS50058: ") == true)
        #expect(none.answer("error_uri") == "https://login.microsoftonline.com/error?code=50058")
        let byGet = try await mock.get("\(Self.front)/oauth2/v2.0/token")
        #expect(try byGet.status == 400 && byGet.json()["error_codes"] == [900_561])
    }

    @Test func `A device without a browser gets tokens when its person has typed its code, once`() async throws {
        let asked = try await mock.ask(
            .post, "\(Self.front)/oauth2/v2.0/devicecode", body: "\(Self.who)&scope=\(Self.scope)"
        ).json()
        #expect(asked.names == ["user_code", "device_code", "verification_uri", "expires_in", "interval", "message"])
        let (page, code) = (asked.text("verification_uri"), asked.text("user_code"))
        #expect(page == "http://mock.test:3001\(Self.front)/oauth2/deviceauth" && code.utf8.count == 9)
        let grant = "\(Self.who)&grant_type=\(TokenEndpoint.deviceGrantType)&device_code="
        let poll = grant + (asked.text("device_code"))
        #expect(try await token(poll).json()["error_codes"] == [70016])
        let browser = Browser(mock)
        let form = try await browser.send(.get, "\(Self.front)/oauth2/deviceauth")
        let person = [("signInName", "alice@example.com"), ("password", "Passw0rd!")]
        let wrong = try await browser.submit(form, [("user_code", "XXXXXXXXX")] + person)
        #expect(wrong.text.contains("That code did not work"))
        let right = try await browser.submit(wrong, [("user_code", code.lowercased())] + person)
        #expect(right.text.contains("You have signed in"))
        #expect(try await token(poll.split(separator: Self.who).joined(separator: Self.daemon)).status == 400)
        // MSAL does not send the URN of RFC 8628.
        let short = poll.split(separator: TokenEndpoint.deviceGrantType).joined(separator: "device_code")
        let reply = try await token(short).json()
        #expect(reply["refresh_token"] != nil && reply["id_token"] != nil)
        #expect(try reply.token("access_token").claims["scp"] == "Tasks.Read")
        #expect(try await token(poll).json()["error_codes"] == [70018])
    }

    @Test func `A device is told that its person declined, or that its time is over`() async throws {
        func begin() async throws -> (poll: String, code: String) {
            let asked = try await mock.ask(
                .post, "\(Self.front)/oauth2/v2.0/devicecode", body: "\(Self.who)&scope=openid"
            ).json()
            let code = asked.text("device_code")
            let poll = "\(Self.who)&grant_type=\(TokenEndpoint.deviceGrantType)&device_code=\(code)"
            return (poll, asked.text("user_code"))
        }
        let (declined, late) = (try await begin(), try await begin())
        let browser = Browser(mock)
        let form = try await browser.send(.get, "\(Self.front)/oauth2/deviceauth?user_code=\(declined.code)")
        #expect(form.text.contains("value=\"\(declined.code)\""))
        _ = try await browser.submit(form, [("user_code", declined.code)], button: "cancel")
        #expect(try await token(declined.poll).json()["error"] == "authorization_declined")
        mock.clock.advance(seconds: 901)
        let over = try await token(late.poll).json()
        #expect(over["error"] == "expired_token" && over["error_codes"] == [70019])
        // B2C has no such grant.
        let b2c = "client_id=\(TestAuthority.clientID)&grant_type=\(TokenEndpoint.deviceGrantType)&device_code=x"
        #expect(try await mock.token(b2c).json()["error"] == "unsupported_grant_type")
    }

    @Test func `Faults, clocks and requests of one tenant are not another's`() async throws {
        let fault = #"{"at":"keys","status":503}"#
        _ = try await mock.ask(.post, "/_mock/faults?profile=external-id", body: fault)
        #expect(try await mock.get("/contoso.onmicrosoft.com/b2c_1_sign_in/discovery/v2.0/keys").status == 200)
        #expect(try await mock.get("\(Self.front)/discovery/v2.0/keys").status == 503)
        #expect(try await mock.get("\(Self.front)/discovery/v2.0/keys").status == 200)
        let before = try await mock.keys(at: "\(Self.front)/discovery/v2.0/keys")
        _ = try await mock.ask(.post, "/_mock/keys?profile=external-id", body: #"{"do":"rotate"}"#)
        let after = try await mock.keys(at: "\(Self.front)/discovery/v2.0/keys")
        #expect(after.count == 1 && Set(before.keys).isDisjoint(with: after.keys))
        #expect(try await mock.publicKeys().count == 1)
    }
}
