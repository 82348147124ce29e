import Basics
import HTTP
import JSON
@testable import MockAuthority
import Support
import Testing

@Suite("Libraries for sign-in find their person in Microsoft Graph")
struct GraphTests {
    static let group = "77777777-0000-4000-8000-000000000001"
    static let services: [SDKService] = [.externalID, .entra]

    /// An exchange whose alice has groups, and what she gets for Graph.
    private func signIn(_ service: SDKService) async throws -> (exchange: SDKExchange, reply: JSONObject) {
        let exchange = SDKExchange(service) { _ in }
        try await exchange.putGroups([Self.group])
        return (exchange, try await exchange.send(Self.form).json())
    }

    private static let form =
        "grant_type=password&client_id={client}&username={alice}&password=Passw0rd!"
        + "&scope=openid+profile+email+User.Read"

    /// Each row is a call of libraries: method, path and host, and a member of the answer, or the code of a refusal.
    private static let calls = [
        "Spring oauth2Login, Nimbus, openid-client, zitadel, AddOpenIdConnect: GET /oidc/userinfo mock.test name=Alice",
        "Duende OidcClient: POST /oidc/userinfo mock.test picture=http://mock.test/v1.0/me/photo/$value",
        "Nimbus, by Microsoft's name: GET /oidc/userinfo graph.microsoft.com family_name=Example",
        "Auth.js, next-auth: GET /v1.0/me/photos/48x48/$value graph.microsoft.com ImageNotFound",
        "MSAL's samples: GET /v1.0/me/photo/$value mock.test ImageNotFound",
        "MSAL's samples: GET /v1.0/me mock.test displayName=Alice",
        "Microsoft.Identity.Web: GET /v1.0/me/memberOf graph.microsoft.com value=[{\"@odata.type",
        "passport-azure-ad: POST /v1.0/me/getMemberObjects graph.microsoft.com value=[\"\(group)\"]",
    ]

    @Test(arguments: services, calls)
    func `The call has the answer that the library reads`(_ service: SDKService, _ call: String) async throws {
        let (exchange, reply) = try await signIn(service)
        let words = call.split(separator: ": ").last?.split(separator: " ").map(String.init) ?? []
        let answer = try await exchange.mock.ask(
            words[0] == "POST" ? .post : .get, words[1],
            headers: ["Authorization": "Bearer \(reply.text("access_token"))"], host: words[2])
        let (body, expected) = (try answer.json(), words[3].split(separator: "=", maxSplits: 1).map(String.init))
        #expect(answer.headers["Access-Control-Allow-Origin"] == "*")
        guard expected.count == 2 else {
            #expect(answer.status == 404 && body["error"]?.object?["code"] == .string(words[3]))
            return
        }
        let value = body[expected[0]] ?? .null
        let text = value.string ?? String(decoding: value.serialized(), as: UTF8.self)
        #expect(answer.status == 200 && text.hasPrefix(expected[1]), "\(answer.text)")
        guard words[1] == "/oidc/userinfo" else { return }
        #expect(try body["sub"] == reply.token("id_token").claims["sub"])
        #expect(body.text("email") == exchange.filled("{alice}"))
    }

    @Test(arguments: services)
    func `Metadata name the address of user information that reaches the mock, in a test run that of the run`(
        _ service: SDKService
    ) async throws {
        let (exchange, reply) = try await signIn(service)
        let headers: HeaderFields = ["Authorization": "Bearer \(reply.text("access_token"))"]
        for host in ["mock.test:3001", "localhost:8443"] {
            let document = try await exchange.mock.document("\(service.front)/\(EntraTenants.document)", at: host)
            let address = document.text("userinfo_endpoint")
            #expect(address.hasPrefix("http://\(host)/"))
            let path = String(address.dropFirst("http://\(host)".utf8.count))
            #expect(try await exchange.mock.ask(.get, path, headers: headers, host: host).status == 200)
        }
    }

    @Test func `Graph refuses what it refuses, in its own words`() async throws {
        let (exchange, reply) = try await signIn(.entra)
        func ask(_ token: String?, _ target: String = "/v1.0/me") async throws -> (Status, String) {
            let fields: HeaderFields = token.map { ["Authorization": "Bearer \($0)"] } ?? [:]
            let answer = try await exchange.mock.get(target, fields)
            let error = try answer.json()["error"]?.object ?? [:]
            #expect((answer.headers["WWW-Authenticate"] != nil) == (answer.status == 401))
            return (answer.status, "\(error.text("code")): \(error.text("message"))")
        }
        #expect(try await ask(nil) == (401, "InvalidAuthenticationToken: Access token is empty."))
        let api = try await exchange.mock.text("user=alice&profile=entra")
        #expect(try await ask(api).1.hasSuffix("Invalid audience."))
        let token = reply.text("access_token")
        #expect(try await ask(String(token.dropLast(8)) + "AAAAAAAA").0 == 401)
        let mail = try await exchange.send(Self.form.replacing("User.Read", with: "Mail.Read")).json().text(
            "access_token")
        #expect(try await ask(mail).1.hasPrefix("Authorization_RequestDenied: "))
        #expect(try await exchange.mock.get("/oidc/userinfo", ["Authorization": "Bearer \(mail)"]).status == 200)
        exchange.mock.clock.advance(seconds: 7200)
        #expect(try await ask(token).1.hasSuffix("the token is expired."))
        let preflight = try await exchange.mock.ask(.options, "/v1.0/me", headers: ["Origin": "https://page.example"])
        #expect(
            preflight.status == 204
                && preflight.headers["Access-Control-Allow-Headers"]?.contains("authorization") == true)
        #expect(try await exchange.mock.ask(.delete, "/v1.0/me").status == 405)
    }
}

extension SDKExchange {
    func putGroups(_ groups: [String]) async throws {
        let body: JSONValue = ["groups": .array(groups.map { .string($0) })]
        let answer = try await mock.ask(
            .put, "/_mock/users/alice?profile=\(service.profile)",
            body: String(decoding: body.serialized(), as: UTF8.self))
        #expect(answer.status == 200, "\(answer.text)")
    }
}

@Suite("Tokens carry the groups of a person")
struct GroupTests {
    private static let most = (0..<201).map { "77777777-0000-4000-8000-\(String(1_000_000_000_000 + $0).suffix(12))" }

    private func tokens(_ exchange: SDKExchange) async throws -> (reply: JSONObject, both: [JSONObject]) {
        let form =
            "grant_type=password&client_id={client}&username={alice}&password=Passw0rd!"
            + "&scope=openid+profile+offline_access+{scope}"
        let reply = try await exchange.send(form).json()
        return (reply, try ["access_token", "id_token"].map { try reply.token($0).claims })
    }

    @Test(arguments: SDKSignInTests.services)
    func `Up to 200 are named; above, the token says where Graph tells them; at B2C none`(_ service: SDKService)
        async throws
    {
        let exchange = SDKExchange(service) { _ in }
        for claims in try await tokens(exchange).both {
            #expect(claims["groups"] == nil && claims["_claim_names"] == nil)
        }
        if service == .b2c {
            try await exchange.putGroups(Self.most)
            #expect(try await tokens(exchange).both.allSatisfy { $0["groups"] == nil && $0["_claim_names"] == nil })
            return
        }
        try await exchange.putGroups(Array(Self.most.dropLast()))
        for claims in try await tokens(exchange).both {
            #expect(claims["groups"]?.array?.compactMap(\.string) == Self.most.dropLast())
            #expect(claims["_claim_names"] == nil)
        }
        try await exchange.putGroups(Self.most)
        for claims in try await tokens(exchange).both {
            #expect(claims["groups"] == nil && claims["_claim_names"] == ["groups": "src1"])
            let source = claims["_claim_sources"]?.object?["src1"]?.object?.text("endpoint") ?? ""
            let path = source.dropFirst("http://mock.test:3001".utf8.count)
            let graph = try await exchange.send(
                "grant_type=password&client_id={client}&username={alice}&password=Passw0rd!&scope=User.Read"
            ).json().text("access_token")
            let answer = try await exchange.mock.ask(
                .post, String(path), body: #"{"securityEnabledOnly":false}"#,
                headers: ["Authorization": "Bearer \(graph)"])
            #expect(try answer.json()["value"]?.array?.compactMap(\.string) == Self.most)
        }
    }
}
