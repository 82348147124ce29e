import HTTP
import JSON
@testable import MockAuthority
import Support
import Testing

@Suite("Authorization requests are checked and answered as by the service")
struct AuthorizeTests {
    let mock = TestAuthority()
    static let who =
        "client_id=\(TestAuthority.clientID)&redirect_uri=http%3A%2F%2Flocalhost%3A1%2Fcb&scope=openid%20\(TestAuthority.clientID)"

    private static let client = "client_id=\(TestAuthority.clientID)"
    static let cases = [
        WrongRequest("\(who)&response_type=dance&state=s", "unsupported_response_type", "90013"),
        WrongRequest("\(who)&state=s", "unsupported_response_type", "90013"),
        WrongRequest("\(who)&response_type=code&response_mode=smoke&state=s", "invalid_request", "90014"),
        WrongRequest("\(who)&response_type=code&prompt=please&state=s", "invalid_request", "90043"),
        WrongRequest("\(who)&response_type=code&prompt=none&state=s", "interaction_required", "90077"),
        WrongRequest(
            "\(who)&response_type=code&code_challenge=x&code_challenge_method=MD5&state=s", "invalid_request", "90184"),
        WrongRequest("\(client)&response_type=code&state=s", "invalid_request", "90010"),
        WrongRequest("\(client)&response_type=code&state=s&scope=read", "invalid_scope", "90055"),
        WrongRequest(
            "\(client)&response_type=id_token&state=s&scope=\(TestAuthority.clientID)", "invalid_request", "90110"),
        WrongRequest(
            "\(client)&redirect_uri=https%3A%2F%2Fevil.test&response_type=code&state=s", "redirect_uri_mismatch",
            "90006"),
    ]

    @Test(arguments: cases)
    func `The client receives the error, with its state`(_ mistake: WrongRequest) async throws {
        let answer = try await Browser(mock).authorize(mistake.parameters)
        #expect(answer.status == 302)
        #expect(answer.destination?.hasPrefix("http://localhost") == true)
        #expect(answer.answer("error") == mistake.error)
        #expect(answer.answer("error_description")?.hasPrefix("AADB2C\(mistake.code): ") == true)
        #expect(answer.answer("state") == "s")
    }

    @Test(arguments: [("", "90008"), ("client_id=x", "90018")])
    func `Without a known client the error is shown on a page`(query: String, code: String) async throws {
        let answer = try await Browser(mock).authorize(
            "\(query)&redirect_uri=https%3A%2F%2Fevil.test&response_type=code")
        #expect(answer.status == 400 && answer.headers["Location"] == nil)
        #expect(answer.text.contains("AADB2C\(code)"))
    }

    @Test(
        "Each response type has its parameters, in the fragment unless it is a code",
        arguments: [
            ("code", "?", ["state", "code"]),
            ("id_token", "#", ["state", "id_token"]),
            ("token", "#", ["state", "access_token", "token_type", "expires_in", "scope"]),
            ("code%20id_token", "#", ["state", "code", "id_token"]),
            ("code%20token", "#", ["state", "code", "access_token", "token_type", "expires_in", "scope"]),
            (
                "token%20id_token", "#",
                ["state", "access_token", "token_type", "expires_in", "scope", "id_token"]
            ),
            (
                "code%20id_token%20token", "#",
                ["state", "code", "access_token", "token_type", "expires_in", "scope", "id_token"]
            ),
        ])
    func types(type: String, separator: String, names: [String]) async throws {
        let browser = Browser(mock)
        let answer = try await browser.signIn(
            try await browser.authorize("\(Self.who)&response_type=\(type)&state=s&nonce=n"))
        #expect(answer.headers["Location"]?.hasPrefix("http://localhost:1/cb\(separator)") == true)
        #expect(answer.answer.map(\.name) == names)
        guard let identity = answer.answer("id_token") else { return }
        let claims = try Token(identity).claims
        #expect((claims["c_hash"] != nil) == type.contains("code"))
        #expect((claims["at_hash"] != nil) == names.contains("access_token"))
        #expect(claims["nonce"]?.string == "n")
    }

    @Test func `The response of form_post is a page that posts itself, with everything escaped`() async throws {
        let browser = Browser(mock)
        let answer = try await browser.signIn(
            try await browser.authorize("\(Self.who)&response_type=code&response_mode=form_post&state=%22%3E"))
        #expect(answer.status == 200)
        #expect(answer.text.contains(#"method="post" action="http://localhost:1/cb""#))
        #expect(answer.text.contains(#"name="state" value="&quot;&gt;""#))
        #expect(answer.text.contains("<noscript>"))
        #expect(answer.headers["Content-Security-Policy"]?.contains("script-src 'nonce-") == true)
    }

    @Test(arguments: [
        ("urn:ietf:wg:oauth:2.0:oob", true), ("http://localhost", true), ("http://localhost:51000", true),
        ("http://localhost:51000/a/b?c=d", true), ("http://127.0.0.1:5/x", true),
        ("http://localhost.evil.test/", false), ("http://localhost:80@evil.test/", false),
        ("http://localhost:99999/", false), ("http://localhost:+80/", false), ("http://localhost/#x", false),
        ("https://localhost/", false), ("", true), ("msal\(TestAuthority.clientID)://auth", true),
        ("msauth.com.example.tasks://auth", true),
        ("msauth://com.example.tasks/VzSiQcXRmi2kyjzcA%2BmYLEtbGVs%3D", true),
        ("msauth://com.example.other/x", false),
    ])
    func `Redirect URIs are sent as they were registered`(uri: String, good: Bool) async throws {
        let browser = Browser(mock)
        let page = try await browser.authorize(
            "client_id=\(TestAuthority.clientID)&response_type=code&scope=openid&redirect_uri=\(uri.percentEncoded)")
        guard good else {
            #expect(page.answer("error") == "redirect_uri_mismatch")
            return
        }
        let location = try await browser.signIn(page).headers["Location"] ?? ""
        let sent = uri.isEmpty ? "http://localhost" : uri
        let expected = sent.hasPrefix("http://localhost") && !sent.dropFirst(7).contains("/") ? "\(sent)/" : sent
        #expect(location.hasPrefix(expected + (uri.contains("?") ? "&code=" : "?code=")))
    }

    @Test func `Single page clients must send a proof key`() async throws {
        let strict = Browser(TestAuthority { $0.applications.clients[0].singlePage = true })
        let plain = "client_id=\(TestAuthority.clientID)&response_type=code&scope=openid"
        #expect(try await strict.authorize(plain).answer("error_description")?.hasPrefix("AADB2C99059") == true)
        #expect(try await strict.authorize("\(plain)&code_challenge=x").status == 200)
    }

    @Test func `A session answers at once, prompt=login asks again, a logout ends the session`() async throws {
        let browser = Browser(mock)
        let query = "\(Self.who)&response_type=code"
        _ = try await browser.signIn(try await browser.authorize(query))
        #expect(try await browser.authorize(query).answer("code") != nil)
        #expect(try await browser.authorize("\(query)&prompt=none").answer("code") != nil)
        #expect(try await browser.authorize("\(query)&prompt=login").status == 200)
        let out = try await browser.send(
            .get,
            "/contoso.onmicrosoft.com/b2c_1_sign_in/oauth2/v2.0/logout?state=x"
                + "&post_logout_redirect_uri=https%3A%2F%2Fanywhere.test%2Fbye")
        #expect(out.status == 302 && out.headers["Location"] == "https://anywhere.test/bye?state=x")
        #expect(try await browser.authorize(query).status == 200)
        #expect(try await browser.signIn(browser.authorize(query)).status == 302)
        mock.clock.advance(seconds: 86_399)
        #expect(try await browser.authorize(query).status == 302)
        mock.clock.advance(seconds: 1)
        #expect(try await browser.authorize(query).status == 200)
    }

    @Test func `A logout with a hint goes only to a registered URI of the client`() async throws {
        let hint = try await mock.text("user=alice&scope=openid")
        let front = "/contoso.onmicrosoft.com/b2c_1_sign_in/oauth2/v2.0/logout?post_logout_redirect_uri="
        let good = try await mock.get("\(front)http%3A%2F%2Flocalhost%3A3000%2F&id_token_hint=\(hint)")
        #expect(good.headers["Location"] == "http://localhost:3000/")
        #expect(try await mock.get("\(front)https%3A%2F%2Fevil.test&id_token_hint=\(hint)").status == 400)
        #expect(try await mock.get("\(front)http%3A%2F%2Flocalhost%3A3000%2F&id_token_hint=x").status == 400)
        #expect(try await mock.get("/contoso.onmicrosoft.com/b2c_1_sign_in/oauth2/v2.0/logout").status == 200)
    }

    @Test func `User information needs a valid bearer token`() async throws {
        let target = "/contoso.onmicrosoft.com/b2c_1_sign_in/openid/v2.0/userinfo"
        let token = try await mock.text("user=alice")
        let reply = try await mock.get(target, ["Authorization": "Bearer \(token)"]).json()
        #expect(reply.names == ["objectId", "givenName", "surname", "displayName", "signInNames.emailAddress"])
        #expect(reply["signInNames.emailAddress"]?.string == "alice@example.com")
        let refused = try await mock.get(target, ["Origin": "http://localhost:3000"])
        #expect(refused.status == 401 && refused.headers["Access-Control-Allow-Origin"] == "http://localhost:3000")
        for bad in ["expired", "bad-signature", "unpublished-key", "alg-none"] {
            let forged = try await mock.text("user=alice&bad=\(bad)")
            #expect(try await mock.get(target, ["Authorization": "Bearer \(forged)"]).status == 401)
        }
    }
}
