import HTTP
import JSON
@testable import MockAuthority
import Testing

@Suite("Scopes need the consent of people or administrators where the configuration says so")
struct ConsentTests {
    /// Asks as MSAL.js does, in a browser where alice signs in.
    private func ask(_ exchange: SDKExchange, _ browser: Browser? = nil, _ more: String = "") async throws -> Response {
        let query =
            "client_id={client}&response_type=code&redirect_uri=http://localhost&state=s&nonce=n&client_info=1"
            + "&code_challenge={challenge}&code_challenge_method=S256&scope=openid+offline_access+{scope}\(more)"
        let (browser, target) = (browser ?? Browser(exchange.mock), "\(exchange.service.front)/oauth2/v2.0/authorize")
        let page = try await browser.send(.get, exchange.filled("\(target)?\(query)"))
        guard page.text.contains("name=\"password\"") else { return page }
        return try await browser.signIn(page, exchange.filled("{alice}"))
    }

    @Test("A person accepts or refuses scopes once", arguments: [SDKService.externalID, .entra])
    func person(service: SDKService) async throws {
        let exchange = SDKExchange(service) { $0.consent = .user }
        let browser = Browser(exchange.mock)
        let page = try await ask(exchange, browser)
        #expect(page.text.contains("<li>\(exchange.filled("{scope}"))</li>") && page.text.contains("value=\"accept\""))
        #expect(try await browser.submit(page, [], button: "cancel").answer("error_subcode") == "cancel")
        let silent = try await ask(exchange, browser, "&prompt=none").answer
        #expect(silent[0].value == "consent_required" && silent[1].value.hasPrefix("AADSTS65001: "))
        let form = "client_id={client}&grant_type=password&username={alice}&password=Passw0rd!&scope=openid+{scope}"
        let body = try await exchange.send(form).json()
        #expect(body["error"] == "invalid_grant" && body["suberror"] == "consent_required")
        func post(_ path: String, _ form: String) async throws -> JSONObject {
            try await exchange.mock.ask(.post, "\(service.front)/oauth2/\(path)", body: exchange.filled(form)).json()
        }
        let device = try await post("v2.0/devicecode", "client_id={client}&scope=openid")
        _ = try? await post("deviceauth", "signInName={alice}&password=Passw0rd!&user_code=\(device.text("user_code"))")
        let grant = "client_id={client}&grant_type=device_code&device_code=\(device.text("device_code"))"
        #expect(try await exchange.send(grant).status == 200)
        let answer = try await browser.submit(try await ask(exchange, browser), [], button: "accept")
        #expect(answer.answer("code") != nil && answer.answer("session_state") != nil)
        #expect(try await ask(exchange, browser, "&prompt=none").answer("code") != nil)
        #expect(try await exchange.send(form).status == 200)
        #expect(try await exchange.send("\(form)+{api}/Tasks.Write").status == 400)
        #expect(try await ask(exchange, browser, "&prompt=consent").text.contains("value=\"accept\""))
    }

    @Test("An administrator consents for everybody, and nobody else can", arguments: [SDKService.externalID, .entra])
    func administrator(service: SDKService) async throws {
        let exchange = SDKExchange(service) { $0.consent = .admin }
        let browser = Browser(exchange.mock)
        func askAdministrator(_ path: String, answer button: String) async throws -> Response {
            let query = "client_id={client}&redirect_uri=http://localhost:3000/consent&state=s"
            let page = try await browser.send(.get, exchange.filled("\(service.front)/\(path)&\(query)"))
            return try await browser.submit(page, [], button: button)
        }
        let stopped = try await ask(exchange, browser)
        #expect(stopped.text.contains("Need admin approval") && !stopped.text.contains("value=\"accept\""))
        #expect(try await browser.submit(stopped, [], button: "accept").status == 200)
        let second = "v2.0/adminconsent?scope=openid+offline_access+{scope}"
        let refused = try await askAdministrator(second, answer: "cancel").answer
        #expect(refused.map(\.name) == ["error", "error_subcode", "error_description", "admin_consent", "state"])
        for (path, more) in [(second, ["scope"]), ("adminconsent?", [])] {
            _ = try await exchange.mock.ask(.post, "/_mock/reset")
            #expect(try await ask(exchange).answer("code") == nil)
            let answer = try await askAdministrator(path, answer: "accept")
            #expect(answer.answer.map(\.name) == ["admin_consent", "tenant", "state"] + more)
            #expect(answer.destination == "http://localhost:3000/consent" && answer.answer("admin_consent") == "True")
            #expect(answer.answer("tenant") == service.configuration.tenant.id)
            #expect(try await ask(exchange).answer("code") != nil)
        }
        let wrong = try await exchange.send("\(service.front)/adminconsent?client_id={client}&redirect_uri=x:y")
        #expect(wrong.status == 400 && wrong.text.contains("AADSTS50011"))
        let ofB2C = Browser(TestAuthority { $0.applications.clients[0].consent = .user })
        let page = try await ofB2C.authorize("\(PageTests.query)&prompt=consent")
        #expect(try await ofB2C.signIn(page).answer("id_token") != nil)
    }
}
