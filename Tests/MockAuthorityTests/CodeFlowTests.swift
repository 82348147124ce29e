import HTTP
import JSON
@testable import MockAuthority
import Support
import Testing

@Suite("The code flow is like that of the service")
struct CodeFlowTests {
    let mock = TestAuthority()
    static let callback = "http://localhost:5050/cb"
    static let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    static let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
    static let query =
        "client_id=\(TestAuthority.clientID)&response_type=code&redirect_uri=\(callback.percentEncoded)&state=a%26b%3Dc"
        + "&scope=openid%20offline_access%20\(TestAuthority.clientID)&nonce=n-0S6"

    /// A code, from the sign-in of alice.
    private func code(_ query: String = Self.query, policy: String = "b2c_1_sign_in") async throws -> String {
        let browser = Browser(mock)
        let answer = try await browser.signIn(try await browser.authorize(query, policy: policy))
        return try #require(answer.answer("code"))
    }

    private func redeem(
        _ code: String, _ more: String = "", policy: String = "b2c_1_sign_in", headers: HeaderFields = HeaderFields()
    ) async throws -> Response {
        try await mock.token(
            "grant_type=authorization_code&client_id=\(TestAuthority.clientID)&code=\(code)&redirect_uri="
                + "\(Self.callback.percentEncoded)\(more)", policy: policy, headers: headers)
    }

    private func refresh(
        _ token: String, _ more: String = "", policy: String = "b2c_1_sign_in", headers: HeaderFields = HeaderFields()
    ) async throws -> Response {
        try await mock.refresh(token, more, policy: policy, headers: headers)
    }

    private func code(of response: Response) throws -> String {
        #expect(response.status == 400)
        return try response.code()
    }

    @Test func `A sign-in gives the state and a code of five segments, which works once for all tokens`() async throws {
        let browser = Browser(mock)
        let page = try await browser.authorize("\(Self.query)&client_info=1")
        #expect(page.status == 200)
        #expect(page.headers["Content-Security-Policy"]?.contains("form-action") == false)
        let answer = try await browser.signIn(page)
        #expect(answer.status == 302 && answer.destination == Self.callback)
        #expect(answer.answer.map(\.name) == ["state", "client_info", "code"])
        #expect(answer.answer("state") == "a&b=c")
        let code = try #require(answer.answer("code"))
        #expect(code.utf8.count >= 800 && code.split(separator: ".", omittingEmptySubsequences: false).count == 5)
        // Authlib, requests-oauthlib and mod_auth_openidc send no scope here.
        let reply = try await redeem(code).json()
        #expect(reply["scope"]?.string == "openid offline_access \(TestAuthority.clientID)")
        let identity = try reply.token("id_token")
        #expect(identity.claims["nonce"]?.string == "n-0S6")
        #expect(identity.claims["auth_time"]?.integer == TestAuthority.now)
        #expect(identity.claims["idp"] == nil)
        #expect(reply["refresh_token"] != nil)
        #expect(try await self.code(of: redeem(code)) == "90129")
    }

    @Test func `A wrong password shows an alert on the page`() async throws {
        let browser = Browser(mock)
        let page = try await browser.authorize("\(Self.query)&login_hint=%22%3E%3Cb%3E")
        #expect(page.text.contains("value=\"&quot;&gt;&lt;b&gt;\""))
        let again = try await browser.submit(page, [("signInName", "alice@example.com"), ("password", "wrong")])
        #expect(again.status == 200)
        #expect(again.text.between("role=\"alert\">", "<") == "Your password is incorrect.")
        let answer = try await browser.signIn(again)
        #expect(answer.status == 302)
    }

    @Test func `A form without its secret, or for a finished sign-in, changes nothing`() async throws {
        let browser = Browser(mock)
        let page = try await browser.authorize(Self.query)
        let action = try #require(page.text.between("method=\"post\" action=\"", "\"")).unescaped
        let body = "signInName=alice%40example.com&password=Passw0rd!&action=continue&csrf=x"
        #expect(try await browser.send(.post, action, body: body).status == 400)
        let elsewhere = action.replacing("b2c_1_sign_in", with: "b2c_1_sign_up")
        #expect(try await browser.send(.get, elsewhere).status == 400)
        #expect(try await browser.send(.get, action).status == 200)
        #expect(try await browser.signIn(page).status == 302)
        #expect(try await browser.signIn(page).status == 400)
        let other = Browser(mock)
        let late = try await other.authorize(Self.query)
        mock.clock.advance(seconds: 3600)
        #expect(try await other.signIn(late).status == 400)
    }

    @Test(
        "The client receives that the user cancelled or forgot the password",
        arguments: [("cancel", "90091"), ("forgot", "90118")])
    func buttons(button: String, code: String) async throws {
        let browser = Browser(mock)
        let answer = try await browser.submit(try await browser.authorize(Self.query), [], button: button)
        #expect(answer.status == 302 && answer.destination == Self.callback)
        #expect(answer.answer.map(\.name) == ["error", "error_description", "state"])
        #expect(answer.answer("error") == "access_denied")
        #expect(answer.answer("error_description")?.hasPrefix("AADB2C\(code): ") == true)
        #expect(answer.headers["Location"]?.contains("%0d%0a") == true)
    }

    @Test func `Proof keys are checked, hashed and plain`() async throws {
        let hashed = "\(Self.query)&code_challenge=\(Self.challenge)&code_challenge_method=S256"
        let plain = "\(Self.query)&code_challenge=\(Self.verifier)"
        for query in [hashed, plain, "\(plain)&code_challenge_method=plain"] {
            #expect(try await redeem(code(query), "&code_verifier=\(Self.verifier)").status == 200)
            #expect(try await self.code(of: redeem(code(query), "&code_verifier=wrong")) == "90182")
            #expect(try await self.code(of: redeem(code(query))) == "90183")
        }
    }

    @Test func `A code is bound to its client, policy, redirect URI and time`() async throws {
        let code = try await code()
        #expect(try await self.code(of: redeem("rubbish")) == "90090")
        #expect(try await self.code(of: redeem(String(code.dropLast()))) == "90090")
        #expect(try await self.code(of: redeem(code, policy: "b2c_1_sign_up")) == "90088")
        let elsewhere =
            "grant_type=authorization_code&client_id=\(TestAuthority.clientID)&code=\(code)&redirect_uri=http://localhost/x"
        #expect(try await self.code(of: mock.token(elsewhere, policy: "b2c_1_sign_in")) == "90088")
        let other =
            "grant_type=authorization_code&client_id=\(TestAuthority.confidential)&client_secret=mock-secret&code=\(code)"
            + "&redirect_uri=\(Self.callback.percentEncoded)"
        #expect(try await self.code(of: mock.token(other, policy: "b2c_1_sign_in")) == "90279")
        #expect(
            try await self.code(
                of: mock.token(
                    "grant_type=authorization_code&client_id=\(TestAuthority.clientID)&code=\(code)",
                    policy: "b2c_1_sign_in"))
                == "90083")
        mock.clock.advance(seconds: 301)
        let expired = try await redeem(code)
        #expect(
            try expired.json()["error_description"]?.string?.contains(
                "Current time: \(TestAuthority.now + 301), Grant issued time: \(TestAuthority.now), "
                    + "Grant expiration time: \(TestAuthority.now + 300)") == true)
    }

    @Test func `A refresh gives a new refresh token, and the old one stays valid`() async throws {
        let first = try await redeem(code()).json()["refresh_token"]?.string ?? ""
        mock.clock.advance(seconds: 4000)
        let reply = try await refresh(first, "&scope=\(TestAuthority.clientID)").json()
        #expect(reply["refresh_token"]?.string != first && reply["id_token"] == nil)
        // A narrower scope is for the tokens of this answer, not for later ones.
        let whole = try await refresh(reply.text("refresh_token")).json()
        #expect(whole["scope"]?.string == "openid offline_access \(TestAuthority.clientID)")
        let claims = try reply.token("access_token").claims
        #expect(claims["iat"]?.integer == TestAuthority.now + 4000)
        #expect(try await refresh(first).json()["scope"]?.string == "openid offline_access \(TestAuthority.clientID)")
        #expect(try await code(of: refresh(first, policy: "b2c_1_sign_up")) == "90088")
        #expect(try await code(of: refresh("garbage")) == "90090")
        #expect(try await code(of: refresh(code())) == "90090")
        mock.clock.advance(seconds: 1_209_600)
        #expect(try await code(of: refresh(first)) == "90080")
    }

    @Test func `Refresh tokens of a page end a day after the sign-in, however often they are renewed`() async throws {
        let page: HeaderFields = ["Origin": "http://localhost:5050"]
        let first = try await redeem(try await code(), headers: page).json()
        #expect(first["refresh_token_expires_in"]?.integer == 86400)
        var token = first.text("refresh_token")
        for _ in 0..<2 {
            mock.clock.advance(seconds: 40000)
            let answer = try await refresh(token, headers: page)
            let reply = try answer.json()
            #expect(reply["refresh_token"]?.string != token && reply["access_token"] != nil && reply["id_token"] != nil)
            #expect(answer.headers["Access-Control-Allow-Origin"] == "http://localhost:5050")
            token = reply.text("refresh_token")
        }
        #expect(try await refresh(token, headers: page).json()["refresh_token_expires_in"]?.integer == 6400)
        mock.clock.advance(seconds: 6400)
        let late = try await refresh(token, headers: page)
        #expect(try code(of: late) == "90080")
        #expect(late.headers["Access-Control-Allow-Origin"] == "http://localhost:5050")
    }

    @Test func `A strict authority accepts each refresh token once`() async throws {
        let strict = TestAuthority { $0.behaviour.strictRefresh = true }
        let token = try await strict.refreshToken()
        let newer = try await strict.refresh(token).json()["refresh_token"]?.string ?? ""
        #expect(try await code(of: strict.refresh(token)) == "90129")
        // Nobody knows who used the token twice, so the token that replaced it ends, too (RFC 9700 section 4.14.2).
        #expect(try await code(of: strict.refresh(newer)) == "90129")
        #expect(try await strict.refresh(strict.refreshToken()).status == 200)
    }

    @Test("A code that is used twice ends the refresh tokens that came of it, and no others (RFC 6749 section 4.1.2)")
    func reusedCode() async throws {
        let hashed = "\(Self.query)&code_challenge=\(Self.challenge)&code_challenge_method=S256"
        let (code, verifier) = (try await code(hashed), "&code_verifier=\(Self.verifier)")
        let first = try await redeem(code, verifier).json()["refresh_token"]?.string ?? ""
        let second = try await refresh(first).json()["refresh_token"]?.string ?? ""
        let other = try await redeem(self.code()).json()["refresh_token"]?.string ?? ""
        // Whoever has no proof of the code cannot end anything.
        #expect(try await self.code(of: redeem(code, "&code_verifier=wrong")) == "90182")
        let third = try await refresh(second).json()["refresh_token"]?.string ?? ""
        #expect(try await self.code(of: redeem(code, verifier)) == "90129")
        for token in [first, second, third] { #expect(try await self.code(of: refresh(token)) == "90129") }
        #expect(try await refresh(other).status == 200)
    }
}
