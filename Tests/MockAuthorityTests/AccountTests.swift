import HTTP
import JSON
@testable import MockAuthority
import Support
import Testing

/// Where a browser asks for a code: at a policy of B2C, or at the tenant of External ID.
enum SignInPlace: String, CaseIterable, Sendable {
    case b2c, externalID

    /// The object id of Alice.
    var alice: String { (self == .b2c ? User.defaults : EntraTenants.external.users)[0].objectID }

    var request: String {
        switch self {
        case .b2c:
            "/contoso.onmicrosoft.com/b2c_1_sign_in/oauth2/v2.0/authorize?response_type=id_token&nonce=n&\(AuthorizeTests.who)"
        case .externalID:
            "/\(EntraTenants.id)/oauth2/v2.0/authorize?response_type=id_token&nonce=n&client_id=\(EntraTenants.client)"
                + "&redirect_uri=http://localhost&scope=openid+profile"
        }
    }
}

@Suite("A browser has several accounts, and a client gets only the one that it asks for")
struct AccountTests {
    let mock = TestAuthority.all()

    /// Opens the authorization endpoint with more parameters.
    private func open(_ browser: Browser, _ place: SignInPlace, _ more: String = "") async throws -> Response {
        try await browser.send(.get, place.request + more)
    }

    private func claims(_ answer: Response) throws -> JSONObject {
        try Token(try #require(answer.answer("id_token"))).claims
    }

    /// A browser in which Alice, and perhaps Bob after her, signed in.
    private func browser(_ place: SignInPlace, withBob: Bool = false) async throws -> Browser {
        let browser = Browser(mock)
        _ = try await browser.signIn(try await open(browser, place))
        if withBob {
            let page = try await open(browser, place, "&prompt=select_account")
            let form = try await browser.submit(page, [], button: "other")
            _ = try await browser.signIn(form, "bob@example.com")
        }
        return browser
    }

    @Test(
        "select_account shows who is signed in, and lets the person choose or sign in as another",
        arguments: SignInPlace.allCases)
    func select(place: SignInPlace) async throws {
        let browser = try await browser(place, withBob: true)
        mock.clock.advance(seconds: 60)
        let page = try await open(browser, place, "&prompt=select_account")
        #expect(page.status == 200 && page.text.contains("alice@example.com") && page.text.contains("bob@example.com"))
        let chosen = try claims(try await browser.submit(page, [("account", place.alice)]))
        #expect(chosen["oid"]?.string == place.alice)
        #expect(chosen["name"] == "Alice Example")
        let stranger = try await browser.submit(
            try await open(browser, place, "&prompt=select_account"), [("account", "nobody")])
        #expect(stranger.answer.isEmpty && stranger.text.contains("name=\"password\""))
        // Whoever has no account in the browser sees the form at once.
        let empty = try await open(Browser(mock), place, "&prompt=select_account")
        #expect(empty.text.contains("name=\"password\""))
    }

    @Test(arguments: SignInPlace.allCases)
    func `Each of two accounts is found by its name`(place: SignInPlace) async throws {
        let browser = try await browser(place, withBob: true)
        for (name, shown) in [("alice@example.com", "Alice Example"), ("BOB@example.com", "Bob Example")] {
            let answer = try await open(browser, place, "&prompt=none&login_hint=\(name)")
            #expect(try claims(answer)["name"]?.string == shown)
        }
        let unnamed = try await open(browser, place, "&prompt=none")
        guard place == .externalID else {
            // B2C has one session: that of the last sign-in.
            #expect(try claims(unnamed)["name"] == "Bob Example")
            return
        }
        #expect(unnamed.answer("error") == "interaction_required")
        #expect(unnamed.answer("error_description")?.hasPrefix("AADSTS16000: ") == true)
        #expect(try await open(browser, place).text.contains("Pick an account"))
    }

    @Test(arguments: SignInPlace.allCases)
    func `A hint at another person never gives the answer for whoever is signed in`(place: SignInPlace) async throws {
        let mine = try await browser(place)
        let other = Browser(mock)
        let bob = try await other.signIn(try await open(other, place), "bob@example.com")
        let token = try #require(bob.answer("id_token"))
        let sid = try claims(bob)["sid"]?.string ?? "00000000-0000-4000-8000-000000000001"
        for (hint, number) in [
            ("login_hint=bob@example.com", "50058"), ("sid=\(sid)", "160021"), ("id_token_hint=\(token)", "50058"),
        ] {
            let silent = try await open(mine, place, "&prompt=none&\(hint)")
            let code = place == .b2c ? "AADB2C90077" : "AADSTS\(number)"
            #expect(silent.answer("error_description")?.hasPrefix("\(code): ") == true, "\(hint)")
            #expect(silent.answer("id_token") == nil)
            #expect(try await open(mine, place, "&\(hint)").text.contains("name=\"password\""), "\(hint)")
            // Tokens of B2C name no session, so a session of B2C cannot be asked for.
            if place == .b2c, hint.hasPrefix("sid") { continue }
            let own = try claims(try await open(other, place, "&prompt=none&\(hint)"))
            #expect(own["name"] == "Bob Example", "\(hint)")
        }
        let forged = try await open(mine, place, "&prompt=none&id_token_hint=a.b.c")
        #expect(forged.answer("error") == "invalid_request")
    }

    @Test(
        "max_age asks for a new sign-in, and the time of the sign-in is in the token",
        arguments: SignInPlace.allCases)
    func maximumAge(place: SignInPlace) async throws {
        let browser = try await browser(place)
        mock.clock.advance(seconds: 100)
        let time = JSONValue.integer(TestAuthority.now)
        #expect(try claims(try await open(browser, place, "&max_age=100"))["auth_time"] == time)
        #expect(try await open(browser, place, "&prompt=none&max_age=99").answer("id_token") == nil)
        let page = try await open(browser, place, "&max_age=99")
        let again = try claims(try await browser.signIn(page))
        #expect(again["auth_time"] == .integer(TestAuthority.now + 100))
        // A person who is chosen on the page has signed in long ago, too.
        mock.clock.advance(seconds: 100)
        let chosen = try await open(browser, place, "&max_age=99&prompt=select_account")
        #expect(try await browser.submit(chosen, [("account", place.alice)]).text.contains("name=\"password\""))
    }

    @Test func `The claims parameter can ask for the time of the sign-in`() async throws {
        let browser = try await browser(.externalID)
        #expect(try claims(try await open(browser, .externalID))["auth_time"] == nil)
        for wish in [#"{"id_token":{"auth_time":{"essential":true}}}"#, #"{"id_token":{"auth_time":null}}"#] {
            let answer = try await open(browser, .externalID, "&claims=\(wish.percentEncoded)")
            #expect(try claims(answer)["auth_time"] == .integer(TestAuthority.now))
        }
        for other in [#"{"access_token":{"xms_cc":{"values":["CP1"]}}}"#, "nonsense"] {
            let answer = try await open(browser, .externalID, "&claims=\(other.percentEncoded)")
            #expect(try claims(answer)["auth_time"] == nil)
        }
    }
}
