import Basics
import HTTP
import JSON
@testable import MockAuthority
import OpenSSL
import Platform
import Support
import Testing

/// Each row of sdk-calls.json is a call of an SDK: the request as the SDK sends it, and what the SDK must read in the
/// answer.
///
/// Continuous integration cannot have these SDKs; docs/reproduced.md ("SDKs") has a row for each.
@Suite("Every SDK gets what it must read for the requests that it sends")
struct SDKCallTests {
    @Test(arguments: SDKCall.all)
    func `The call has the answer that the SDK reads`(_ call: SDKCall) async throws {
        let exchange = SDKExchange(call.service) { $0.singlePage = call.row["singlePage"]?.boolean ?? $0.singlePage }
        for step in call.texts("steps") { try await exchange.take(step) }
        var headers = HeaderFields()
        for (name, value) in call.members("headers") { headers.append(name, exchange.filled(value.string ?? "")) }
        let answer = try await exchange.send(call.row.text("request"), headers)
        #expect(answer.status == Status(rawValue: Int(call.row["status"]?.integer ?? 200)), "\(answer.text)")
        let body = try answer.json()
        let claims = call.members("claims").isEmpty ? JSONObject() : try body.token("access_token").claims
        for (part, given) in [("reads", body), ("claims", claims)] {
            for (name, value) in call.members(part) {
                let expected = value.string.map { JSONValue.string(exchange.filled($0)) } ?? value
                #expect(given[name] ?? .null == expected, "\(name) of \(given)")
            }
        }
        for (name, start) in call.members("fields") {
            #expect(answer.headers[name]?.hasPrefix(start.string ?? "") == true, "\(name)")
        }
        for text in call.texts("says") {
            #expect(body.text("error_description").contains(exchange.filled(text)), "\(body)")
        }
        #expect(!body.text("error_description").contains("\r") || call.service == .b2c)
    }

    @Test func `Each SDK of the calls has a row in the documentation`() throws {
        #expect(SDKCall.all.count == 54)
        let document = try SDKCall.file("docs/reproduced.md").between("\n## SDKs\n", "\n## ") ?? ""
        let rows = document.split(separator: "\n").filter { $0.hasPrefix("| ") }
        for names in Set(SDKCall.all.map { $0.row.text("sdk").prefix { $0 != ":" } }) {
            for name in names.split(separator: ", ") where name != "MSAL for Python" {
                #expect(rows.contains { $0.contains(name) }, "\(name)")
            }
        }
    }
}

/// A service of Microsoft, and the clients of its default configuration.
enum SDKService: String {
    case b2c, externalID, entra

    var configuration: Configuration {
        switch self {
        case .b2c: Configuration()
        case .externalID: .externalID
        case .entra: Configuration.entra[0]
        }
    }

    var front: String {
        self == .b2c ? "/contoso.onmicrosoft.com/b2c_1_ropc" : "/\(configuration.tenant.id)"
    }

    var profile: String { self == .externalID ? "external-id" : rawValue }
}

struct SDKCall: Sendable, CustomTestStringConvertible {
    let service: SDKService
    /// The members: `sdk`, `request` (a form for the token endpoint, or the target of a `GET`), `headers`, `status`,
    /// `reads` and `claims` with null for what is not there, `fields`, `says` and `steps`.
    let row: JSONObject

    var testDescription: String { "\(row.text("sdk")) at \(service.rawValue): \(row.text("request").prefix(120))" }

    func members(_ name: String) -> [(name: String, value: JSONValue)] {
        row[name]?.object?.members.map { ($0.name, $0.value) } ?? []
    }

    func texts(_ name: String) -> [String] { row[name]?.array?.compactMap(\.string) ?? [] }

    static func file(_ path: String) throws -> String {
        let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        return String(decoding: try File.read("/\(root)/\(path)"), as: UTF8.self)
    }

    /// Each row at each of its services.
    static let all: [SDKCall] = {
        let text = try? file("Tests/MockAuthorityTests/sdk-calls.json")
        let rows = text.flatMap { try? JSONValue(parsing: Array($0.utf8)).array } ?? []
        return rows.compactMap(\.object).flatMap { row in
            (row["services"]?.array ?? []).compactMap { $0.string.flatMap(SDKService.init) }.map {
                SDKCall(service: $0, row: row)
            }
        }
    }()
}

/// A call of an SDK on its way: the words in braces of the request stand for what the authority gave before.
final class SDKExchange {
    let mock: TestAuthority
    let service: SDKService
    private(set) var values: [String: String]

    init(_ service: SDKService, _ change: (inout Client) -> Void) {
        self.service = service
        var all = Configuration.standard()
        all.behaviour.entra.passwordGrant = true
        change(&all.applications.clients[0])
        for index in all.entraTenants.indices { change(&all.entraTenants[index].applications.clients[0]) }
        mock = TestAuthority(all)
        let configuration = service.configuration
        let applications = configuration.applications
        let northwind = Configuration.entra[1].tenant
        values = [
            "client": applications.clients[0].id, "daemon": applications.clients[1].id,
            "api": applications.resources[0].identifier, "audience": applications.resources[0].audience,
            "alice": configuration.users[0].email, "other": northwind.id,
            "scope": "\(applications.resources[0].identifier)/\(applications.resources[0].scopes[0])",
            "basic": Base64.encode(Array("\(applications.clients[1].id):x".utf8)), "verifier": EntraFlowTests.verifier,
            "challenge": EntraFlowTests.challenge,
        ]
    }

    func filled(_ text: String) -> String {
        values.reduce(text) { text, value in text.replacing("{\(value.key)}", with: value.value) }
    }

    /// Takes a step before a call, such as `signIn`, `wait 60` or `authorize &scope=openid`.
    func take(_ step: String) async throws {
        let parts = step.split(separator: " ", maxSplits: 1).map(String.init)
        let rest = parts.count == 2 ? parts[1] : ""
        switch parts[0] {
        case "signIn": try await signIn()
        case "callAPI": try await callAPI()
        case "authorize" where rest.hasPrefix("at "): try await authorize(redirectURI: String(rest.dropFirst(3)))
        case "authorize": try await authorize(rest)
        case "wait": mock.clock.advance(seconds: Double(rest) ?? 0)
        case "tenant": set("tenant", filled(rest))
        case "revoke": try await control("revoke", #"{"user":"alice"}"#)
        case "disable":
            _ = try await mock.ask(.put, "/_mock/users/alice?profile=\(service.profile)", body: #"{"disabled":true}"#)
        default: Issue.record("there is no step \(step)")
        }
    }

    func send(_ request: String, _ headers: HeaderFields = [:]) async throws -> Response {
        let request = filled(request)
        if request.hasPrefix("/") { return try await mock.get(request, headers) }
        let tenant = values["tenant"] ?? service.front
        return try await mock.ask(.post, "\(tenant)/oauth2/v2.0/token", body: request, headers: headers)
    }

    func set(_ name: String, _ value: String) { values[name] = value }

    func control(_ name: String, _ body: String) async throws {
        let answer = try await mock.ask(.post, "/_mock/\(name)?profile=\(service.profile)", body: body)
        #expect(answer.status == 200, "\(answer.text)")
    }

    /// Gets a refresh token of alice as `{refresh}`.
    func signIn() async throws {
        let form =
            "client_id={client}&grant_type=password&username={alice}&password=Passw0rd!"
            + "&scope=openid+profile+offline_access+{scope}"
        values["refresh"] = try await send(form).json().text("refresh_token")
    }

    /// Gets an access token for the API as `{assertion}`.
    func callAPI() async throws {
        let token = try await mock.text("user=alice&profile=\(service.profile)&scope=\(filled("{scope}"))")
        // The scope is asked for alone, and the token is one as MSAL gets it.
        #expect(try Token(token).claims["tid"]?.string == service.configuration.tenant.id)
        values["assertion"] = token
    }

    /// Gets a code of alice as `{code}`, for a request with these parameters.
    func authorize(_ more: String = "", redirectURI: String = "http://localhost") async throws {
        values["tenant"] = signInFront
        let answer = try await answer("&redirect_uri=\(redirectURI)&nonce=n&client_info=1\(more)")
        let code = try #require(answer.answer("code"), "\(answer.headers)")
        values["code"] = code
    }

    private var signInFront: String { service == .b2c ? "/contoso.onmicrosoft.com/b2c_1_sign_in" : service.front }

    /// The page on which a person signs in, for a request with these parameters.
    func page(_ more: String, in browser: Browser) async throws -> Response {
        let scope = more.contains("scope=") ? "" : "&scope=openid+profile+offline_access+{scope}"
        let query = "client_id={client}&response_type=code&state=s&code_challenge={challenge}\(scope)\(more)"
        let target = "\(signInFront)/oauth2/v2.0/authorize?\(query)&code_challenge_method=S256"
        return try await browser.send(.get, filled(target))
    }

    /// The answer to such a request after alice has signed in.
    func answer(_ more: String) async throws -> Response {
        let browser = Browser(mock)
        return try await browser.signIn(page(more, in: browser), filled("{alice}"))
    }
}

@Suite("What SDKs do with the answers of sign-ins")
struct SDKSignInTests {
    static let services: [SDKService] = [.b2c, .externalID, .entra]

    @Test("MSAL.NET: http://localhost comes back with a slash, in every response mode", arguments: services)
    func slash(service: SDKService) async throws {
        let exchange = SDKExchange(service) { _ in }
        for (mode, start) in [("query", "http://localhost/?"), ("fragment", "http://localhost/#")] {
            let answer = try await exchange.answer("&redirect_uri=http://localhost&response_mode=\(mode)")
            #expect(answer.headers["Location"]?.hasPrefix(start) == true, "\(answer.headers)")
            // oidc-client-ts reads it at Entra.
            #expect((answer.answer("session_state") != nil) == (service != .b2c))
        }
        let posted = try await exchange.answer("&redirect_uri=http://localhost:5001&response_mode=form_post")
        #expect(posted.text.contains("action=\"http://localhost:5001/\""))
    }

    @Test("MSAL.NET: a person who cancels has error_subcode=cancel", arguments: [SDKService.externalID, .entra])
    func cancelled(service: SDKService) async throws {
        let exchange = SDKExchange(service) { _ in }
        let browser = Browser(exchange.mock)
        let form = try await exchange.page("&redirect_uri=http://localhost", in: browser)
        let answer = try await browser.submit(form, [], button: "cancel")
        #expect(answer.answer.map(\.name) == ["error", "error_subcode", "error_description", "state"])
        #expect(answer.answer("error") == "access_denied" && answer.answer("error_subcode") == "cancel")
        #expect(answer.answer("error_description")?.hasPrefix("AADSTS65004: ") == true)
    }

    @Test func `MSAL.js: a web app passes a code on to its page, which redeems it without the secret`() async throws {
        let exchange = SDKExchange(.entra) { $0.secret = "s" }
        try await exchange.authorize()
        let web = exchange.filled(
            "grant_type=authorization_code&client_id={client}&client_secret=s&code={code}&redirect_uri=http://localhost"
                + "&code_verifier={verifier}&return_spa_code=1")
        let code = try await exchange.send(web).json().text("spa_code")
        let page =
            "grant_type=authorization_code&client_id={client}&code=\(code)&redirect_uri=http://localhost:3000"
            + "&scope=openid+offline_access+{scope}"
        let without = try await exchange.send(page)
        #expect(try without.status == 400 && without.json()["error_codes"] == [9_002_327])
        let origin: HeaderFields = ["Origin": "http://localhost:3000"]
        let reply = try await exchange.send(page, origin).json()
        #expect(try reply.token("access_token").claims["scp"] == "Tasks.Read")
        let refresh = "grant_type=refresh_token&client_id={client}&refresh_token=\(reply.text("refresh_token"))"
        #expect(try await exchange.send(refresh, origin).status == 200)
        #expect(try await exchange.send(page, origin).json()["error_codes"] == [54005])
    }

    @Test func `B2C's refresh tokens end 90 days after the sign-in, however often they are renewed`() async throws {
        let mock = TestAuthority()
        var token = try await mock.refreshToken()
        for day in 1...10 {
            mock.clock.advance(seconds: 9 * 86400 - 1)
            let reply = try await mock.refresh(token).json()
            token = reply.text("refresh_token")
            let left = Int64(90 * 86400 - day * (9 * 86400 - 1))
            #expect(reply["refresh_token_expires_in"]?.integer == min(left, 14 * 86400))
        }
        mock.clock.advance(seconds: 10)
        #expect(try await mock.refresh(token).code() == "90080")
    }

    @Test("MSAL.NET: B2C's issuer follows a custom domain where issuers follow the host of the request")
    func customDomain() async throws {
        let mock = TestAuthority.all { $0.issuerHost = .request }
        let document = "/contoso.onmicrosoft.com/b2c_1_ropc/v2.0/.well-known/openid-configuration"
        let issuer = try await mock.document(document, at: "login.contoso.com").text("issuer")
        #expect(issuer == "http://login.contoso.com/\(Tenant.contoso.id)/v2.0/")
        let reply = try await mock.ask(
            .post, "/contoso.onmicrosoft.com/b2c_1_ropc/oauth2/v2.0/token",
            body: "\(PasswordGrantTests.form)&scope=openid+\(TestAuthority.clientID)", host: "login.contoso.com")
        for name in ["access_token", "id_token"] {
            #expect(try reply.json().token(name).claims["iss"]?.string == issuer)
        }
        let other = try await TestAuthority.all().document(document, at: "login.contoso.com").text("issuer")
        #expect(other.hasPrefix("http://127.0.0.1:3001/"))
    }

    @Test("Every SDK of Entra: an ID token has tid without the scope profile, and metadata have what mTLS needs")
    func members() async throws {
        let exchange = SDKExchange(.entra) { _ in }
        let form = "grant_type=password&client_id={client}&username={alice}&password=Passw0rd!&scope=openid+{scope}"
        let reply = try await exchange.send(form).json()
        #expect(try reply.token("id_token").claims["tid"]?.string == Configuration.entra[0].tenant.id)
        #expect(try reply.token("id_token").claims["oid"] == nil && reply.token("access_token").claims["tid"] == nil)
        let document = try await exchange.mock.document("\(exchange.service.front)/\(EntraTenants.document)")
        #expect(document["mtls_endpoint_aliases"] == ["token_endpoint": document["token_endpoint"] ?? .null])
        #expect(document["tls_client_certificate_bound_access_tokens"] == true)
        let daemon = try await exchange.send(
            "grant_type=client_credentials&client_id={daemon}&client_secret=mock-secret&scope={api}/.default"
        ).json()
        #expect(try daemon.token("access_token").claims["xms_ftd"] != nil)
    }

    @Test("/consumers has no work accounts, by whichever way they come")
    func consumers() async throws {
        let exchange = SDKExchange(.entra) { _ in }
        let page = try await exchange.send(
            "/consumers/oauth2/v2.0/authorize?client_id={client}&response_type=code&scope=openid&redirect_uri=http://localhost"
        )
        #expect(page.status == 400 && page.text.contains("is not enabled for consumers"))
        let device = try await exchange.mock.ask(
            .post, "/consumers/oauth2/v2.0/devicecode", body: exchange.filled("client_id={client}&scope=openid"))
        #expect(try device.status == 400 && device.json()["error"] == "unauthorized_client")
    }

    @Test("A reset concerns every tenant of the mock, unless one is named")
    func reset() async throws {
        let mock = TestAuthority.all()
        let profiles = ["b2c", "external-id", "entra", "entra&tenant=northwind.onmicrosoft.com"]
        func skew(_ seconds: Int) async throws {
            for profile in profiles {
                _ = try await mock.ask(.post, "/_mock/clock?profile=\(profile)", body: "{\"skew_s\":\(seconds)}")
            }
        }
        func skews() async throws -> [Int64?] {
            var all: [Int64?] = []
            for profile in profiles {
                all.append(try await mock.get("/_mock/state?profile=\(profile)").json()["skew_s"]?.integer)
            }
            return all
        }
        try await skew(5)
        _ = try await mock.ask(.post, "/_mock/reset?profile=external-id")
        #expect(try await skews() == [5, 0, 5, 5])
        _ = try await mock.ask(.post, "/_mock/reset")
        #expect(try await skews() == [0, 0, 0, 0])
    }
}

@Suite("A strict provider serves the clients of the standards as they come")
struct StrictClientTests {
    private let mock: TestAuthority = {
        var configuration = Configuration()
        configuration.play(.strict)
        configuration.applications.clients[0].redirectURIs += ["http://127.0.0.1/cb", "http://[::1]/cb?x=y"]
        return TestAuthority(configuration)
    }()

    @Test(
        "OpenIddict.Client, Duende OidcClient: any port of a loopback redirect URI (RFC 8252 section 7.3)",
        arguments: [
            ("http://127.0.0.1:49152/cb", true), ("http://[::1]:5/cb?x=y", true), ("http://localhost:51000/", true),
            ("http://localhost:51000", true), ("http://127.0.0.1:49152/cb/more", false),
            ("http://127.0.0.1:49152/cb?x=y", false),
            ("https://127.0.0.1:49152/cb", false), ("http://127.0.0.1:49152/cb/", false),
            ("http://localhost:1/other", false),
            ("http://127.0.0.1:49152/cb#x", false),
        ])
    func ports(uri: String, isGood: Bool) async throws {
        let target =
            "/contoso.onmicrosoft.com/strict/oauth2/v2.0/authorize?client_id=\(TestAuthority.clientID)&response_type=code"
            + "&scope=openid&redirect_uri=\(uri.percentEncoded)"
        let browser = Browser(mock)
        let page = try await browser.send(.get, target)
        #expect(page.status == (isGood ? 200 : 400), "\(page.text)")
        guard isGood else { return }
        #expect(
            try await browser.signIn(page).headers["Location"]?.hasPrefix(uri + (uri.contains("?") ? "&" : "?")) == true
        )
    }

    @Test("Duende's discovery: every endpoint lies below the issuer, and answers there")
    func endpoints() async throws {
        let issuer = "/contoso.onmicrosoft.com/strict/v2.0"
        let document = try await mock.document("\(issuer)/.well-known/openid-configuration", at: "127.0.0.1:3001")
        let base = document.text("issuer")
        #expect(base == "http://127.0.0.1:3001\(issuer)")
        let names = document.names.filter { $0.hasSuffix("_endpoint") || $0 == "jwks_uri" }
        #expect(names.count == 5)
        for name in names {
            let address = document.text(name)
            #expect(address.hasPrefix("\(base)/"), "\(address)")
            let path = String(address.dropFirst("http://127.0.0.1:3001".count))
            #expect(try await mock.ask(.options, path).status == 204, "\(path)")
        }
        let token = String(document.text("token_endpoint").dropFirst("http://127.0.0.1:3001".count))
        let reply = try await mock.ask(
            .post, token, body: TestAuthority.daemonForm.replacing("/.default", with: "/tasks.read"))
        #expect(reply.status == 200 && reply.headers["Pragma"] == "no-cache")
    }
}
