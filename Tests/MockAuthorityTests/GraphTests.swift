import Basics
import HTTP
import JSON
@testable import MockAuthority
import Support
import Testing

/// A call of a library for sign-in at Microsoft Graph, with a token as the library gets it.
struct GraphTestCall: Sendable, CustomTestStringConvertible {
    let sdk: String
    let target: String
    var host = "mock.test:3001"
    var method = Method.get
    var status: Status = 200
    var reads: [String: JSONValue] = [:]

    var testDescription: String { "\(sdk): \(method.name) \(host)\(target)" }

    static let all = [
        GraphTestCall(
            sdk: "Spring oauth2Login, Nimbus, openid-client, zitadel, AddOpenIdConnect: user information",
            target: "/oidc/userinfo",
            reads: [
                "name": "Alice Example", "given_name": "Alice", "family_name": "Example",
                "picture": "http://mock.test:3001/v1.0/me/photo/$value",
            ]),
        GraphTestCall(
            sdk: "Duende OidcClient: user information, posted", target: "/oidc/userinfo", method: .post,
            reads: ["name": "Alice Example"]),
        GraphTestCall(
            sdk: "Nimbus: user information by Microsoft's name", target: "/oidc/userinfo", host: "graph.microsoft.com",
            reads: ["given_name": "Alice"]),
        GraphTestCall(
            sdk: "Auth.js, next-auth: the photo", target: "/v1.0/me/photos/48x48/$value", host: "graph.microsoft.com",
            status: 404),
        GraphTestCall(sdk: "MSAL's samples: the photo", target: "/v1.0/me/photo/$value", status: 404),
        GraphTestCall(
            sdk: "MSAL's samples: the person", target: "/v1.0/me",
            reads: ["displayName": "Alice Example", "jobTitle": .null]),
        GraphTestCall(sdk: "Microsoft.Identity.Web: the groups", target: "/v1.0/me/memberOf"),
        GraphTestCall(
            sdk: "passport-azure-ad's samples: all groups", target: "/v1.0/me/getMemberObjects", method: .post,
            reads: ["value": [.string(GraphTests.group)]]),
    ]
}

@Suite("Libraries for sign-in find their person in Microsoft Graph")
struct GraphTests {
    static let group = "77777777-0000-4000-8000-000000000001"
    static let services: [SDKService] = [.externalID, .entra]

    /// An exchange whose alice has groups, and what she gets for Graph.
    private func signIn(
        _ service: SDKService, scope: String = "openid+profile+email+User.Read"
    ) async throws -> (exchange: SDKExchange, reply: JSONObject) {
        let exchange = SDKExchange(service) { _ in }
        try await exchange.putGroups([Self.group])
        let form = "grant_type=password&client_id={client}&username={alice}&password=Passw0rd!&scope=\(scope)"
        return (exchange, try await exchange.send(form).json())
    }

    @Test(arguments: services, GraphTestCall.all)
    func `The call has the answer that the library reads`(_ service: SDKService, _ call: GraphTestCall) async throws {
        let (exchange, reply) = try await signIn(service)
        let answer = try await exchange.mock.ask(
            call.method, call.target, body: call.method == .post ? "{}" : "",
            headers: ["Authorization": "Bearer \(reply.text("access_token"))"], host: call.host)
        #expect(answer.status == call.status, "\(answer.text)")
        #expect(answer.headers["Access-Control-Allow-Origin"] == "*")
        let body = try answer.json()
        for (name, value) in call.reads { #expect(body[name] == value, "\(name) of \(answer.text)") }
        if call.status == 404 { #expect(body["error"]?.object?["code"] == "ImageNotFound") }
        if call.target.contains("userinfo") {
            #expect(body["sub"] == (try reply.token("id_token").claims["sub"]))
            #expect(body.text("email") == exchange.filled("{alice}"))
        }
        if call.target.hasSuffix("memberOf") {
            #expect(body["value"]?.array?.map { $0["id"] } == [.string(Self.group)])
        }
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
        exchange.mock.clock.advance(seconds: 7200)
        #expect(try await ask(token).1.hasSuffix("the token is expired."))
        let preflight = try await exchange.mock.ask(.options, "/v1.0/me", headers: ["Origin": "https://page.example"])
        #expect(
            preflight.status == 204
                && preflight.headers["Access-Control-Allow-Headers"]?.contains("authorization") == true)
        #expect(try await exchange.mock.ask(.delete, "/v1.0/me").status == 405)
    }

    @Test func `A token without the scope is not enough for the person`() async throws {
        let (exchange, reply) = try await signIn(.entra, scope: "openid+profile+Mail.Read")
        let headers: HeaderFields = ["Authorization": "Bearer \(reply.text("access_token"))"]
        let answer = try await exchange.mock.get("/v1.0/me", headers)
        #expect(try answer.status == 403 && answer.json()["error"]?.object?["code"] == "Authorization_RequestDenied")
        #expect(try await exchange.mock.get("/oidc/userinfo", headers).status == 200)
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

    @Test(arguments: GraphTests.services)
    func `Up to 200 are named; above, the token says where Graph tells them`(_ service: SDKService) async throws {
        let exchange = SDKExchange(service) { _ in }
        for claims in try await tokens(exchange).both {
            #expect(claims["groups"] == nil && claims["_claim_names"] == nil)
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

    @Test func `B2C has no groups in its tokens`() async throws {
        let exchange = SDKExchange(.b2c) { _ in }
        try await exchange.putGroups(Self.most)
        for claims in try await tokens(exchange).both {
            #expect(claims["groups"] == nil && claims["_claim_names"] == nil)
        }
    }
}
