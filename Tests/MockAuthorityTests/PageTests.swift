import HTTP
import JSON
@testable import MockAuthority
import Support
import Testing

@Suite("The pages work for people and for scripts")
struct PageTests {
    let mock = TestAuthority()
    static let query =
        "client_id=\(TestAuthority.clientID)&response_type=id_token&scope=openid&redirect_uri=http%3A%2F%2Flocalhost"

    private func claims(_ answer: Response) throws -> JSONObject {
        try Token(try #require(answer.answer("id_token"))).claims
    }

    @Test func `A sign-up creates an account that can sign in`() async throws {
        let browser = Browser(mock)
        let page = try await browser.authorize(Self.query, policy: "b2c_1_sign_up")
        for name in ["email", "newPassword", "reenterPassword", "displayName"] {
            #expect(page.text.contains("<label for=\"\(name)\">") && page.text.contains("name=\"\(name)\""))
        }
        let answered = try await browser.signUp(page, "carol@example.com", "Carol <i>", password: "S3cret&+%=é")
        let claims = try claims(answered)
        #expect(claims["newUser"]?.boolean == true && claims["tfp"]?.string == "b2c_1_sign_up")
        #expect(claims["name"]?.string == "Carol <i>")
        let other = Browser(mock)
        let answer = try await other.submit(
            try await other.authorize(Self.query),
            [("signInName", "CAROL@example.com"), ("password", "S3cret&+%=é")])
        #expect(try self.claims(answer)["oid"] == claims["oid"])
        #expect(try self.claims(answer)["newUser"] == nil)
    }

    @Test(
        "A wrong sign-up shows the reason and keeps the fields",
        arguments: [
            ("carol", "Passw0rd! Passw0rd! C", "valid email"), ("c@d.test", "short short C", "8 characters"),
            ("c@d.test", "Passw0rd! passw0rd! C", "do not match"), ("c@d.test", "Passw0rd! Passw0rd! ", "display name"),
            ("ALICE@example.com", "Passw0rd! Passw0rd! C", "already exists"),
        ])
    func signUpMistakes(email: String, passwordsAndName: String, message: String) async throws {
        let browser = Browser(mock)
        let typed = passwordsAndName.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        let password = typed[0]
        let page = try await browser.submit(
            try await browser.authorize(Self.query, policy: "b2c_1_sign_up"),
            [("email", email), ("newPassword", password), ("reenterPassword", typed[1]), ("displayName", typed[2])])
        #expect(page.text.between("role=\"alert\">", "</p>")?.contains(message) == true)
        #expect(page.text.contains("value=\"\(email)\"") && !page.text.contains(password))
    }

    @Test("One click signs in an account of the configuration, and no other one", arguments: SDKSignInTests.services)
    func picker(service: SDKService) async throws {
        let exchange = SDKExchange(service) { _ in }
        let front = service == .b2c ? "/contoso.onmicrosoft.com/b2c_1_sign_in" : service.front
        let query = "client_id={client}&response_type=id_token&scope=openid&redirect_uri=http://localhost&nonce=n"
        let (alice, bob) = (service.configuration.users[0].objectID, service.configuration.users[1].objectID)
        func click(_ person: String) async throws -> Response {
            let browser = Browser(exchange.mock)
            let page = try await browser.send(.get, exchange.filled("\(front)/oauth2/v2.0/authorize?\(query)"))
            #expect(page.text.contains("name=\"password\"") && page.text.contains("name=\"person\" value=\"\(bob)\""))
            return try await browser.submit(page, [("person", person)])
        }
        #expect(try await click(bob).answer("id_token") != nil)
        #expect(try await click("a11ce000-0000-4000-8000-00000000ffff").status == 200)
        _ = try await exchange.mock.ask(
            .put, "/_mock/users/alice?profile=\(service.profile)", body: #"{"disabled":true}"#)
        #expect(try await click(alice).answer("id_token") == nil)
        let signUp = try await Browser(mock).authorize(Self.query, policy: "b2c_1_sign_up")
        #expect(!signUp.text.contains("name=\"person\""))
    }

    @Test func `Editing a profile signs in first, then changes the name`() async throws {
        let browser = Browser(mock)
        let profile = try await browser.signIn(try await browser.authorize(Self.query, policy: "b2c_1_edit_profile"))
        #expect(profile.text.contains("value=\"Alice Example\""))
        let answer = try await browser.submit(
            profile, [("displayName", "Alice B"), ("givenName", "Alice"), ("surname", "B")])
        #expect(try claims(answer)["name"]?.string == "Alice B")
        let again = try await browser.authorize(Self.query, policy: "b2c_1_edit_profile")
        #expect(again.text.contains("value=\"Alice B\""))
        #expect(try claims(try await browser.authorize(Self.query))["name"]?.string == "Alice B")
    }

    @Test(
        "What became of an account while its profile was open stays so",
        arguments: [
            (Method.post, "revoke", #"{"user":"alice"}"#), (.put, "users/alice", #"{"disabled":true}"#),
            (.delete, "users/alice", ""),
        ])
    func openProfile(method: Method, path: String, body: String) async throws {
        let refresh = try await mock.refreshToken()
        let browser = Browser(mock)
        let profile = try await browser.signIn(try await browser.authorize(Self.query, policy: "b2c_1_edit_profile"))
        #expect([200, 204].contains(try await mock.ask(method, "/_mock/\(path)", body: body).status))
        let answer = try await browser.submit(
            profile, [("displayName", "Alice B"), ("givenName", "Alice"), ("surname", "B")])
        #expect((answer.status == 302) == (path == "revoke"))
        #expect(try await mock.refresh(refresh).status == 400)
        if path == "revoke" { return }
        #expect(answer.status == 200 && answer.text.contains("role=\"alert\""))
        // The page goes on with the form that somebody else can sign in with.
        let next = try await browser.signIn(answer, "bob@example.com")
        #expect(next.text.contains("value=\"Bob Example\""))
    }

    @Test func `A script gets no answer for an account that was removed or disabled after its sign-in`() async throws {
        for (method, body) in [(Method.put, #"{"disabled":true}"#), (.delete, "")] {
            let browser = Browser(mock)
            let page = try await browser.authorize(Self.query).text
            let csrf = try #require(page.between("\"csrf\":\"", "\""))
            let tail = "tx=\(page.between("\"transId\":\"", "\"") ?? "")&p=b2c_1_sign_in"
            let front = "/contoso.onmicrosoft.com/b2c_1_sign_in"
            let form = "signInName=bob%40example.com&password=Passw0rd!"
            let signedIn = try await browser.send(
                .post, "\(front)/SelfAsserted?\(tail)", body: form, headers: ["X-CSRF-TOKEN": csrf])
            #expect(try signedIn.json()["status"] == "200")
            _ = try await mock.ask(method, "/_mock/users/bob", body: body)
            let confirmed = "\(front)/api/CombinedSigninAndSignup/confirmed?csrf_token=\(csrf.percentEncoded)&\(tail)"
            #expect(try await browser.send(.get, confirmed).status == 400)
            _ = try await mock.ask(.post, "/_mock/reset")
        }
    }

    @Test("A reset sets the password, also for somebody with a session, and only that of a known account")
    func resetPassword() async throws {
        let browser = Browser(mock)
        #expect(try await browser.signIn(try await browser.authorize(Self.query)).status == 302)
        let page = try await browser.authorize(Self.query, policy: "b2c_1_reset")
        func send(_ email: String, _ password: String, _ again: String) async throws -> Response {
            let form = [("email", email), ("newPassword", password), ("reenterPassword", again)]
            return try await browser.submit(page, form)
        }
        for (email, password, again, message) in [
            ("nobody@example.com", "N3wPassword", "N3wPassword", "could not be found"),
            ("alice@example.com", "short", "short", "8 characters"),
            ("alice@example.com", "N3wPassword", "N3wPasswort", "do not match"),
        ] {
            let alert = try await send(email, password, again).text.between("role=\"alert\">", "</p>")
            #expect(alert?.contains(message) == true)
        }
        let claims = try claims(try await send("ALICE@example.com", "N3wPassword", "N3wPassword"))
        #expect(claims["tfp"]?.string == "b2c_1_reset" && claims["name"]?.string == "Alice Example")
        let other = Browser(mock)
        let form = try await other.authorize(Self.query)
        let old = try await other.submit(form, [("signInName", "alice@example.com"), ("password", "Passw0rd!")])
        #expect(old.text.contains("Your password is incorrect."))
        let new = try await other.submit(form, [("signInName", "alice@example.com"), ("password", "N3wPassword")])
        #expect(new.status == 302)
    }

    @Test("The page of the identity provider creates an account of its own, which cannot sign in once it is disabled")
    func facebook() async throws {
        let browser = Browser(mock)
        let page = try await browser.authorize(Self.query, policy: "b2c_1_facebook")
        let form = [("email", "alice@example.com"), ("displayName", "Alice F")]
        let claims = try claims(try await browser.submit(page, form))
        #expect(claims["idp"]?.string == "facebook.com" && claims["newUser"]?.boolean == true)
        #expect(claims["oid"]?.string != "a11ce000-0000-4000-8000-000000000001")
        let again = Browser(mock)
        let second = try self.claims(
            try await again.submit(try await again.authorize(Self.query, policy: "b2c_1_facebook"), form))
        #expect(second["oid"] == claims["oid"] && second["newUser"] == nil)
        let target = "/_mock/users/\(claims.text("oid"))"
        #expect(try await mock.ask(.put, target, body: #"{"disabled":true}"#).status == 200)
        let late = try await again.authorize(Self.query, policy: "b2c_1_facebook")
        let refused = try await again.submit(late, form).text.between("role=\"alert\">", "</p>")
        #expect(refused?.contains("could not be found") == true)
    }

    @Test func `A link leads to the sign-up page where the policy has both`() async throws {
        let browser = Browser(TestAuthority { $0.policies = [Policy("B2C_1_susi", kind: .signUpOrSignIn)] })
        let page = try await browser.authorize(Self.query, policy: "b2c_1_susi")
        let link = try #require(page.text.between("<a href=\"", "\"")).unescaped
        let signUp = try await browser.send(.get, link)
        #expect(signUp.text.contains("name=\"newPassword\""))
        #expect(try claims(try await browser.signUp(signUp, "c@d.test", "C"))["tfp"]?.string == "B2C_1_susi")
    }

    @Test func `Scripts for the real page sign in with SETTINGS, SelfAsserted and confirmed`() async throws {
        let browser = Browser(mock)
        let page = try await browser.authorize(Self.query)
        let settings = try #require(
            try JSONValue(parsing: Array((page.text.between("var SETTINGS = ", ";</script>") ?? "").utf8)).object)
        #expect(
            settings.names == [
                "remoteResource", "retryLimit", "trimSpacesInPassword", "api", "csrf", "transId", "pageViewId",
                "pageMode", "config", "hosts", "locale",
            ])
        let csrf = settings.text("csrf")
        let tenant = settings["hosts"]?.object?["tenant"]?.string ?? ""
        let tail = "tx=\(settings.text("transId"))&p=\(settings["hosts"]?.object?["policy"]?.string ?? "")"
        #expect(browser.cookies.map(\.name) == ["x-ms-cpim-csrf", "x-ms-cpim-trans"])
        func send(_ body: String, _ token: String) async throws -> JSONObject {
            let response = try await browser.send(
                .post, "\(tenant)/SelfAsserted?\(tail)", body: "request_type=RESPONSE&\(body)",
                headers: ["X-CSRF-TOKEN": token])
            #expect(response.status == 200)
            return try response.json()
        }
        let confirmed = "\(tenant)/api/\(settings.text("api"))/confirmed?rememberMe=false&csrf_token="
        #expect(try await send("signInName=alice%40example.com&password=Passw0rd!", "x")["status"]?.string == "400")
        #expect(try await send("signInName=x%40y.test&password=z", csrf)["errorCode"]?.string == "AADB2C90053")
        #expect(try await browser.send(.get, "\(confirmed)\(csrf.percentEncoded)&\(tail)").status == 400)
        #expect(try await send("signInName=alice%40example.com&password=Passw0rd!", csrf)["status"]?.string == "200")
        #expect(try await browser.send(.get, "\(confirmed)x&\(tail)").status == 400)
        let answer = try await browser.send(.get, "\(confirmed)\(csrf.percentEncoded)&\(tail)")
        #expect(try claims(answer)["emails"] == ["alice@example.com"])
    }

    @Test func `Cookies are Secure only over https`() async throws {
        let head = RequestHead(
            method: .get,
            target: try RequestTarget(
                parsing: "/contoso.onmicrosoft.com/b2c_1_sign_in/oauth2/v2.0/authorize?\(Self.query)"),
            headers: ["Host": "localhost:8443"])
        let secure = await mock.authority.decide(on: head, scheme: "https").answered()
        let plain = await mock.authority.decide(on: head).answered()
        #expect(secure.headers.values("Set-Cookie").allSatisfy { $0.hasSuffix("HttpOnly; Secure; SameSite=None") })
        #expect(plain.headers.values("Set-Cookie").allSatisfy { $0.hasSuffix("HttpOnly; SameSite=Lax") })
    }
}
