import HTTP
import JSON
@testable import MockAuthority
import Support
import Testing

@Suite("Scopes need the consent of people or administrators where the configuration says so")
struct ConsentTests {
    static let services: [SDKService] = [.externalID, .entra]
    private static let scope = "openid+profile+offline_access+{scope}"

    /// Asks as MSAL.js does.
    private func ask(_ browser: Browser, _ exchange: SDKExchange, _ more: String = "&scope=\(scope)") async throws
        -> Response
    {
        let query =
            "client_id={client}&response_type=code&redirect_uri=http://localhost&state=s&nonce=n&client_info=1"
            + "&code_challenge={challenge}&code_challenge_method=S256\(more)"
        return try await browser.send(.get, exchange.filled("\(exchange.service.front)/oauth2/v2.0/authorize?\(query)"))
    }

    private func signIn(_ exchange: SDKExchange, _ browser: Browser? = nil) async throws -> Response {
        let browser = browser ?? Browser(exchange.mock)
        return try await browser.signIn(try await ask(browser, exchange), exchange.filled("{alice}"))
    }

    private func names(_ answer: Response) -> [String] { answer.answer.map(\.name) }

    @Test("MSAL.js: a person accepts or refuses the scopes once, and is asked again for others", arguments: services)
    func person(service: SDKService) async throws {
        let exchange = SDKExchange(service) { $0.consent = .user }
        let browser = Browser(exchange.mock)
        let page = try await signIn(exchange, browser)
        for text in ["offline_access", exchange.filled("{scope}"), exchange.filled("{alice}"), "value=\"accept\""] {
            #expect(page.status == 200 && page.text.contains(text), "\(page.text)")
        }
        let refused = try await browser.submit(page, [], button: "cancel")
        #expect(names(refused) == ["error", "error_subcode", "error_description", "state"])
        #expect(refused.answer("error_description")?.hasPrefix("AADSTS65004: ") == true)
        let silent = try await ask(browser, exchange, "&prompt=none&scope=\(Self.scope)")
        #expect(silent.answer("error") == "consent_required")
        #expect(silent.answer("error_description")?.hasPrefix("AADSTS65001: ") == true)
        exchange.mock.clock.advance(seconds: 60)
        let accepted = try await browser.submit(try await ask(browser, exchange), [], button: "accept")
        #expect(names(accepted) == ["state", "client_info", "code", "session_state"])
        // The session is still the one that began a minute before.
        let again = try await ask(browser, exchange, "&prompt=none&scope=\(Self.scope)")
        #expect(again.answer("code") != nil && again.answer("session_state") == accepted.answer("session_state"))
        let wider = try await ask(browser, exchange, "&prompt=none&scope=openid+{api}/Tasks.Write")
        #expect(wider.answer("error") == "consent_required")
        let asked = try await ask(browser, exchange, "&prompt=consent&scope=\(Self.scope)")
        #expect(asked.text.contains("value=\"accept\""))
        #expect(try await signIn(exchange).answer("code") != nil)
    }

    @Test("MSAL.NET: a token request without consent is MsalUiRequiredException, classified by its suberror")
    func tokenRequest() async throws {
        let exchange = SDKExchange(.entra) { $0.consent = .user }
        let form = "client_id={client}&grant_type=password&username={alice}&password=Passw0rd!&scope=\(Self.scope)"
        let answer = try await exchange.send(form)
        let body = try answer.json()
        #expect(answer.status == 400 && body["error"] == "invalid_grant" && body["error_codes"] == [65001])
        #expect(body["suberror"] == "consent_required")
        // A device's person consents on the page for its code.
        let device = exchange.filled("client_id={client}&scope=openid")
        let codes = try await exchange.mock.ask(.post, "\(exchange.service.front)/oauth2/v2.0/devicecode", body: device)
        let typed = exchange.filled(
            "signInName={alice}&password=Passw0rd!&user_code=\(try codes.json().text("user_code"))")
        _ = try await exchange.mock.ask(.post, "\(exchange.service.front)/oauth2/deviceauth", body: typed)
        let grant = "client_id={client}&grant_type=device_code&device_code=\(try codes.json().text("device_code"))"
        #expect(try await exchange.send(grant).status == 200)
        #expect(try await exchange.send(form).status == 400)
        let browser = Browser(exchange.mock)
        _ = try await browser.submit(try await signIn(exchange, browser), [], button: "accept")
        let refresh = try await exchange.send(form).json().text("refresh_token")
        let renewal = "client_id={client}&grant_type=refresh_token&refresh_token=\(refresh)&scope="
        #expect(try await exchange.send(renewal + "{scope}").status == 200)
        #expect(try await exchange.send(renewal + "{api}/.default").json()["suberror"] == "consent_required")
    }

    @Test("An administrator consents for everybody, and until then nobody else can", arguments: services)
    func administrator(service: SDKService) async throws {
        let exchange = SDKExchange(service) { $0.consent = .admin }
        let browser = Browser(exchange.mock)
        func askAdministrator(_ path: String, answer button: String) async throws -> Response {
            let query = "client_id={client}&redirect_uri=http://localhost:3000/consent&state=s"
            let page = try await browser.send(.get, exchange.filled("\(service.front)/\(path)&\(query)"))
            #expect(page.status == 200 && page.text.contains("Tasks.Write"), "\(page.text)")
            return try await browser.submit(page, [], button: button)
        }
        let stopped = try await signIn(exchange, browser)
        #expect(stopped.text.contains("Need admin approval") && !stopped.text.contains("value=\"accept\""))
        // Nor does a form help that the page does not have.
        #expect(try await browser.submit(stopped, [], button: "accept").status == 200)
        #expect(try await browser.submit(stopped, [], button: "cancel").answer("error") == "access_denied")
        let path = "v2.0/adminconsent?scope=openid+profile+offline_access+{api}/.default"
        let refused = try await askAdministrator(path, answer: "cancel")
        #expect(names(refused) == ["error", "error_subcode", "error_description", "admin_consent", "state"])
        #expect(try await signIn(exchange).answer("code") == nil)
        let answer = try await askAdministrator(path, answer: "accept")
        #expect(answer.destination == "http://localhost:3000/consent")
        #expect(names(answer) == ["admin_consent", "tenant", "state", "scope"])
        #expect(answer.answer("admin_consent") == "True" && answer.answer("tenant") == service.configuration.tenant.id)
        #expect(answer.answer("scope") == exchange.filled("openid profile offline_access {api}/.default"))
        #expect(try await signIn(exchange).answer("code") != nil)
        _ = try await exchange.mock.ask(.post, "/_mock/reset")
        #expect(try await signIn(exchange).answer("code") == nil)
        let ofVersionOne = try await askAdministrator("adminconsent?", answer: "accept")
        #expect(names(ofVersionOne) == ["admin_consent", "tenant", "state"])
        #expect(try await signIn(exchange).answer("code") != nil)
    }

    @Test("The page for administrators refuses as the authorization endpoint does, and B2C has none")
    func wrongRequests() async throws {
        let exchange = SDKExchange(.entra) { _ in }
        let path = "/organizations/v2.0/adminconsent?redirect_uri="
        for (query, text) in [
            ("http://localhost&scope=openid", "AADSTS900144"),
            ("http://localhost&scope=openid&client_id=x", "AADSTS700016"),
            ("https://other.test&scope=openid&client_id={client}", "AADSTS50011"),
        ] {
            let page = try await exchange.send(path + query)
            #expect(page.status == 400 && page.text.contains(text), "\(page.text)")
        }
        let misspelt = try await exchange.send(path + "http://localhost&scope={api}/Task.Read&client_id={client}")
        #expect(misspelt.answer("error_description")?.hasPrefix("AADSTS650053: ") == true)
        #expect(try await exchange.send("/contoso.onmicrosoft.com/b2c_1_sign_in/adminconsent").status == 404)
        let browser = Browser(TestAuthority { $0.applications.clients[0].consent = .user })
        let page = try await browser.authorize("\(PageTests.query)&prompt=consent")
        #expect(try await browser.signIn(page).answer("id_token") != nil)
    }
}
