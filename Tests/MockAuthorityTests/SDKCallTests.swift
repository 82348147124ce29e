import Basics
import HTTP
import JSON
@testable import MockAuthority
import OpenSSL
import Support
import Testing

/// Each row is a call of an SDK: the request as the SDK sends it, and what the SDK must read in the answer.
///
/// Continuous integration cannot have these SDKs; docs/reproduced.md ("SDKs") says where each was run.
@Suite("Every SDK gets what it must read for the requests that it sends")
struct SDKCallTests {
    @Test(arguments: SDKCall.ofDaemons + SDKCall.ofErrors + SDKCall.ofPeople)
    func `The call has the answer that the SDK reads`(_ call: SDKCall) async throws {
        let exchange = SDKExchange(call.service, call.client)
        let answer = try await exchange.send(call)
        #expect(answer.status == call.status, "\(answer.text)")
        let body = try answer.json()
        for (name, value) in call.reads { #expect(body[name] ?? .null == value, "\(name) of \(answer.text)") }
        let claims = call.claims.isEmpty ? JSONObject() : try body.token("access_token").claims
        for (name, value) in call.claims {
            let expected = value.string.map { JSONValue.string(exchange.filled($0)) } ?? value
            #expect(claims[name] ?? .null == expected, "\(name) of \(claims)")
        }
        for (name, value) in call.fields { #expect(answer.headers[name]?.hasPrefix(value) == true, "\(name)") }
        for text in call.says { #expect(body.text("error_description").contains(exchange.filled(text)), "\(body)") }
        #expect(!body.text("error_description").contains("\r") || call.service == .b2c)
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
    let sdk: String
    let service: SDKService
    /// The form of a token request, or the target of a `GET` where it begins with a slash.
    let request: String
    var headers: HeaderFields = [:]
    var status: Status = 200
    /// Members of the answer; null for one that is not there.
    var reads: [String: JSONValue] = [:]
    /// Claims of the access token.
    var claims: [String: JSONValue] = [:]
    /// The beginnings of fields of the answer.
    var fields: [String: String] = [:]
    /// Parts of `error_description`.
    var says: [String] = []
    /// Changes the registration of the first client.
    var client: @Sendable (inout Client) -> Void = { _ in }
    /// The steps that were made before the request.
    var before: (@Sendable (SDKExchange) async throws -> Void)?

    var testDescription: String { "\(sdk) at \(service.rawValue): \(request.prefix(120))" }
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
            "verifier": EntraFlowTests.verifier, "challenge": EntraFlowTests.challenge,
        ]
    }

    func filled(_ text: String) -> String {
        values.reduce(text) { text, value in text.replacing("{\(value.key)}", with: value.value) }
    }

    func send(_ call: SDKCall) async throws -> Response {
        try await call.before?(self)
        return try await send(call.request, call.headers)
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
    func authorize(_ more: String = "", client: String = "{client}", redirectURI: String = "http://localhost")
        async throws
    {
        let front = service == .b2c ? "/contoso.onmicrosoft.com/b2c_1_sign_in" : service.front
        values["tenant"] = front
        let query =
            "client_id=\(client)&response_type=code&redirect_uri=\(redirectURI)&code_challenge={challenge}"
            + "&code_challenge_method=S256&nonce=n&client_info=1&state=s\(more.contains("scope=") ? "" : "&scope=openid+profile+offline_access+{scope}")\(more)"
        let browser = Browser(mock)
        let page = try await browser.send(.get, filled("\(front)/oauth2/v2.0/authorize?\(query)"))
        let answer = try await browser.signIn(page, filled("{alice}"))
        let code = try #require(answer.answer("code"), "\(answer.headers)")
        values["code"] = code
    }
}

extension SDKCall {
    private static let daemon = "grant_type=client_credentials&client_id={daemon}&client_secret=mock-secret&scope="

    /// Client credentials.
    static let ofDaemons: [SDKCall] =
        [SDKService.b2c, .externalID, .entra].flatMap { service in
            [
                SDKCall(
                    sdk: "MSAL Go, azidentity: secret", service: service,
                    request: daemon + "openid+profile+offline_access+{api}/.default", reads: ["token_type": "Bearer"],
                    claims: ["aud": "{audience}", "scp": service == .b2c ? "tasks.read tasks.write" : .null]),
                SDKCall(
                    sdk: "msal4j, azure-identity (Java): secret", service: service,
                    request: daemon + "{api}/.default+offline_access+profile+openid", reads: ["token_type": "Bearer"],
                    claims: ["aud": "{audience}"]),
                SDKCall(
                    sdk: "MSAL Node, MSAL.NET, MSAL for Python: secret", service: service,
                    request: daemon + "{api}/.default",
                    claims: ["aud": "{audience}"], fields: ["Cache-Control": "no-store", "Pragma": "no-cache"]),
            ]
        } + [
            SDKCall(
                sdk: "MSAL.NET: secret, then its token", service: .entra, request: daemon + "{api}/.default",
                claims: ["ver": "2.0", "azpacr": "1"], fields: ["x-ms-request-id": "", "x-ms-ests-server": "2.1."]),
            SDKCall(
                sdk: "azidentity: a scope that is no resource", service: .entra, request: daemon + "openid+profile",
                status: 400,
                reads: ["error": "invalid_scope", "error_codes": [1_002_012], "error_uri": .null]),
            SDKCall(
                sdk: "azure-identity: a role", service: .externalID, request: daemon + "{api}/Tasks.ReadWrite.All",
                status: 400,
                reads: ["error": "invalid_scope", "error_codes": [1_002_012]]),
            SDKCall(
                sdk: "azure-identity: a scope of no API", service: .entra, request: daemon + "api://other/.default",
                status: 400,
                reads: ["error": "invalid_resource", "error_codes": [500_011]],
                says: [
                    "The resource principal named api://other was not found in the tenant named fabrikam.onmicrosoft.com."
                ]),
        ]
}

extension SDKCall {
    private static let refresh =
        "grant_type=refresh_token&client_id={client}&client_info=1&refresh_token={refresh}&scope="
    private static let redeem =
        "grant_type=authorization_code&client_id={client}&client_info=1&code={code}&redirect_uri=http://localhost"
        + "&code_verifier={verifier}&scope=openid+profile+offline_access+{scope}"
    private static let page: HeaderFields = ["Origin": "http://localhost:3000"]

    /// Refusals by which SDKs decide what to do.
    static let ofErrors: [SDKCall] =
        [SDKService.externalID, .entra].flatMap { service in
            [
                SDKCall(
                    sdk: "MSAL: wrong secret", service: service,
                    request: "grant_type=client_credentials&client_id={daemon}&client_secret=x&scope={api}/.default",
                    status: 401,
                    reads: [
                        "error": "invalid_client", "error_codes": [7_000_215],
                        "error_uri": "https://login.microsoftonline.com/error?code=7000215", "suberror": .null,
                    ],
                    says: [
                        "AADSTS7000215: Invalid client secret provided. Ensure the secret being sent in the request is the "
                            + "client secret value, not the client secret ID, for a secret added to app '{daemon}'. "
                            + "Trace ID: "
                    ]),
                SDKCall(
                    sdk: "oauth2 (Go): Basic with a wrong secret", service: service,
                    request: "grant_type=client_credentials&scope={api}/.default",
                    headers: [
                        "Authorization":
                            "Basic \(Base64.encode(Array("\(service.configuration.applications.clients[1].id):x".utf8)))"
                    ],
                    status: 401, reads: ["error_codes": [7_000_215]], fields: ["WWW-Authenticate": "Basic realm="]),
                SDKCall(
                    sdk: "MSAL: no secret", service: service,
                    request: "grant_type=client_credentials&client_id={daemon}&scope={api}/.default", status: 401,
                    reads: ["error": "invalid_client", "error_codes": [7_000_218]]),
                SDKCall(
                    sdk: "MSAL.js: a revoked refresh token", service: service, request: refresh + "{scope}",
                    status: 400,
                    reads: ["error": "invalid_grant", "error_codes": [50173], "suberror": "bad_token"],
                    says: [
                        "a fresh auth token is needed. The user might have changed or reset their password. The grant was"
                    ],
                    before: { exchange in
                        try await exchange.signIn()
                        try await exchange.control("revoke", #"{"user":"alice"}"#)
                    }),
                SDKCall(
                    sdk: "MSAL.js: a refresh token that was idle for too long", service: service,
                    request: refresh + "{scope}",
                    status: 400, reads: ["error": "invalid_grant", "error_codes": [700_082], "suberror": "bad_token"],
                    says: ["and was inactive for 90.00:00:00. Trace ID: "],
                    before: { exchange in
                        try await exchange.signIn()
                        exchange.mock.clock.advance(seconds: 91 * 86400)
                    }),
                SDKCall(
                    sdk: "MSAL.js: a disabled account", service: service, request: refresh + "{scope}", status: 400,
                    reads: ["error": "invalid_grant", "error_codes": [50057], "suberror": .null],
                    before: { exchange in
                        try await exchange.signIn()
                        _ = try await exchange.mock.ask(
                            .put, "/_mock/users/alice?profile=\(exchange.service.profile)", body: #"{"disabled":true}"#)
                    }),
            ]
        } + [
            SDKCall(
                sdk: "MSAL.js: a revoked refresh token", service: .b2c, request: refresh + "{scope}", status: 400,
                reads: ["error": "invalid_grant", "suberror": .null, "error_codes": .null], says: ["AADB2C90129"],
                before: { exchange in
                    try await exchange.signIn()
                    try await exchange.control("revoke", #"{"user":"alice"}"#)
                }),
            SDKCall(
                sdk: "MSAL.NET: WithTenantId of a tenant where the person is no guest", service: .entra,
                request: refresh + "{scope}", status: 400, reads: ["error": "invalid_grant", "error_codes": [50020]],
                says: [
                    "User account 'alice@fabrikam.com' from identity provider", "does not exist in tenant 'northwind",
                ],
                before: { exchange in
                    try await exchange.signIn()
                    exchange.set("tenant", exchange.filled("/{other}"))
                }),
            SDKCall(
                sdk: "MSAL: a resource that does not exist, by a refresh token", service: .entra,
                request: refresh + "api://other/Read", status: 400,
                reads: ["error": "invalid_resource", "error_codes": [500_011]],
                before: { try await $0.signIn() }),
            SDKCall(
                sdk: "msal4j: /consumers and a work account", service: .entra,
                request: "grant_type=password&client_id={client}&username={alice}&password=Passw0rd!&scope=openid",
                status: 400,
                reads: ["error": "unauthorized_client", "access_token": .null], says: ["is not enabled for consumers"],
                before: { $0.set("tenant", "/consumers") }),
            SDKCall(
                sdk: "MSAL Node: a code of MSAL.js without Origin", service: .entra, request: redeem, status: 400,
                reads: ["error": "invalid_request", "error_codes": [9_002_327]], client: { $0.singlePage = true },
                before: { try await $0.authorize() }),
            SDKCall(
                sdk: "MSAL.js: a code of a desktop client", service: .entra, request: redeem, headers: page,
                status: 400,
                reads: ["error": "invalid_request", "error_codes": [9_002_326]], client: { $0.singlePage = false },
                before: { try await $0.authorize() }),
            SDKCall(
                sdk: "MSAL.js: a code for a custom scheme", service: .externalID,
                request: redeem.replacing("http://localhost", with: "msal{client}://auth"), headers: page, status: 400,
                reads: ["error_codes": [9_002_326]],
                before: { try await $0.authorize(redirectURI: "msal{client}://auth") }),
        ]

    private static let onBehalf =
        "grant_type=urn:ietf:params:oauth:grant-type:jwt-bearer&client_id={audience}&client_secret=mock-secret"
        + "&requested_token_use=on_behalf_of&assertion={assertion}&scope="

    /// Sign-ins of people and what follows.
    static let ofPeople: [SDKCall] =
        [SDKService.b2c, .externalID, .entra].flatMap { service in
            [
                SDKCall(
                    sdk: "MSAL.js, MSAL Node, MSAL Go, msal4j: acquireTokenByCode", service: service, request: redeem,
                    reads: ["token_type": "Bearer"], claims: ["aud": "{audience}"], fields: ["Pragma": "no-cache"],
                    before: { try await $0.authorize() }),
                SDKCall(
                    sdk: "MSAL Go, msal4j, azure-identity (Java): userrealm before the password", service: service,
                    request: "/Common/UserRealm/{alice}?api-version=1.0",
                    reads: [
                        "account_type": "Managed", "cloud_instance_name": "microsoftonline.com",
                        "domain_name": service == .entra ? "fabrikam.com" : "example.com",
                        "cloud_audience_urn": "urn:federation:MicrosoftOnline",
                    ]),
            ]
        }
        + [SDKService.externalID, .entra].flatMap { service in
            [
                SDKCall(
                    sdk: "MSAL.NET: WithExtraScopesToConsent, MSAL.js: extraScopesToConsent", service: service,
                    request: redeem, claims: ["aud": "{audience}"],
                    before: {
                        try await $0.authorize(
                            "&scope=openid+offline_access+{scope}+https://graph.microsoft.com/User.Read")
                    }),
                SDKCall(
                    sdk: "the same with a token request for both", service: service,
                    request: redeem + "+https://graph.microsoft.com/User.Read", status: 400,
                    reads: ["error": "invalid_scope", "error_codes": [28000]],
                    before: { try await $0.authorize("&scope=openid+{scope}+https://graph.microsoft.com/User.Read") }),
                SDKCall(
                    sdk: "MSAL.NET: /.default of a person", service: service,
                    request: redeem.replacing("{scope}", with: "{api}/.default"),
                    reads: [
                        "scope": .string(
                            "openid profile \(service.granted)/Tasks.Read \(service.granted)/Tasks.Write \(service.granted)/.default"
                        )
                    ],
                    before: { try await $0.authorize() }),
                SDKCall(
                    sdk: "MSAL.NET: WithSignedHttpRequestProofOfPossession", service: service,
                    request: redeem + "&token_type=pop&req_cnf=eyJraWQiOiJrIn0", reads: ["token_type": "pop"],
                    claims: ["cnf": ["kid": "k"], "aud": "{audience}"], before: { try await $0.authorize() }),
                SDKCall(
                    sdk: "MSAL.NET, MSAL Node: token of a daemon that is bound to a key", service: service,
                    request: daemon + "{api}/.default&token_type=pop&req_cnf=eyJraWQiOiJrIn0",
                    reads: ["token_type": "pop"], claims: ["cnf": ["kid": "k"]]),
                SDKCall(
                    sdk: "MSAL Node: on behalf of a person, for itself by URI", service: service,
                    request: onBehalf + "{api}/Tasks.Read", status: 400, reads: ["error_codes": [90009]],
                    before: { try await $0.callAPI() }),
                SDKCall(
                    sdk: "MSAL Node: on behalf of a person, for itself by GUID", service: service,
                    request: onBehalf + "{audience}/Tasks.Read", claims: ["aud": "{audience}", "azp": "{audience}"],
                    before: { try await $0.callAPI() }),
                SDKCall(
                    sdk: "MSAL.js: code of a page", service: service, request: redeem, headers: page,
                    reads: ["refresh_token_expires_in": .null],
                    fields: ["Access-Control-Allow-Origin": "http://localhost:3000"],
                    before: { try await $0.authorize() }),
            ]
        }
}

extension SDKService {
    fileprivate var granted: String { configuration.applications.resources[0].identifier }
}

@Suite("What SDKs do with the answers of sign-ins")
struct SDKSignInTests {
    static let services: [SDKService] = [.b2c, .externalID, .entra]

    private func page(_ exchange: SDKExchange, _ more: String, browser: Browser) async throws -> Response {
        let front = exchange.service == .b2c ? "/contoso.onmicrosoft.com/b2c_1_sign_in" : exchange.service.front
        let query =
            "client_id={client}&response_type=code&state=s&scope=openid+offline_access+{scope}"
            + "&code_challenge={challenge}&code_challenge_method=S256\(more)"
        return try await browser.send(.get, exchange.filled("\(front)/oauth2/v2.0/authorize?\(query)"))
    }

    @Test("MSAL.NET: http://localhost comes back with a slash, in every response mode", arguments: services)
    func slash(service: SDKService) async throws {
        let exchange = SDKExchange(service) { _ in }
        for (mode, start) in [("query", "http://localhost/?"), ("fragment", "http://localhost/#")] {
            let browser = Browser(exchange.mock)
            let more = "&redirect_uri=http://localhost&response_mode=\(mode)"
            let answer = try await browser.signIn(
                try await page(exchange, more, browser: browser), exchange.filled("{alice}"))
            #expect(answer.headers["Location"]?.hasPrefix(start) == true, "\(answer.headers)")
            // oidc-client-ts reads it at Entra.
            #expect((answer.answer("session_state") != nil) == (service != .b2c))
        }
        let browser = Browser(exchange.mock)
        let more = "&redirect_uri=http://localhost:5001&response_mode=form_post"
        let posted = try await browser.signIn(
            try await page(exchange, more, browser: browser), exchange.filled("{alice}"))
        #expect(posted.text.contains("action=\"http://localhost:5001/\""))
    }

    @Test("MSAL.NET: a person who cancels has error_subcode=cancel", arguments: services)
    func cancelled(service: SDKService) async throws {
        let exchange = SDKExchange(service) { _ in }
        let browser = Browser(exchange.mock)
        let form = try await page(exchange, "&redirect_uri=http://localhost", browser: browser)
        let answer = try await browser.submit(form, [], button: "cancel")
        let names = answer.answer.map(\.name)
        guard service != .b2c else {
            #expect(names == ["error", "error_description", "state"])
            return
        }
        #expect(names == ["error", "error_subcode", "error_description", "state"])
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

    @Test func `Names of Microsoft's services are answered, that of Graph too`() async throws {
        #expect(try await TestAuthority.all().ask(.get, "/", host: "graph.microsoft.com").status == 200)
        #expect(try await TestAuthority.all().ask(.get, "/", host: "graph.example.com").status == 403)
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
