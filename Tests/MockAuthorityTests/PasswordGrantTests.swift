import Basics
import HTTP
import JSON
@testable import MockAuthority
import Support
import Testing

@Suite("The password grant answers as the service does")
struct PasswordGrantTests {
    let mock = TestAuthority()
    static let form =
        "grant_type=password&client_id=\(TestAuthority.clientID)&username=Alice%40Example.com&password=Passw0rd!"

    @Test(arguments: [
        "abc", "------------------------------------", "D1C7DF34-8B90-4E1F-9D37-7A9EBD1D805A",
        "d1c7df34-8b90-4e1f-9d37-7a9ebd1d805a",
    ])
    func `A response has one correlation id: the client's if it is a GUID`(given: String) async throws {
        let response = try await mock.token("grant_type=password", headers: ["client-request-id": given])
        let shown = try #require(response.headers["client-request-id"])
        let description = try response.json()["error_description"]?.string ?? ""
        #expect(description.contains("Correlation ID: \(shown)\r\n"))
        #expect(GUID.canonical(shown) != nil && (shown == given) == (GUID.canonical(given) != nil))
    }

    @Test func `Without client_info, a response has the members of the service in its order`() async throws {
        let response = try await mock.token(
            "\(Self.form)&scope=openid+offline_access+\(TestAuthority.clientID)", headers: ["client-request-id": "x"])
        #expect(response.status == 200)
        #expect(response.headers["Cache-Control"] == "no-store, must-revalidate, no-cache")
        #expect(response.headers["Content-Type"] == "application/json; charset=utf-8")
        let reply = try response.json()
        #expect(
            reply.names == [
                "access_token", "id_token", "token_type", "not_before", "expires_in", "expires_on", "resource",
                "id_token_expires_in", "profile_info", "scope", "refresh_token", "refresh_token_expires_in",
            ])
        #expect(
            reply["not_before"]?.integer == TestAuthority.now
                && reply["expires_on"]?.integer == TestAuthority.now + 3600)
        #expect(reply["resource"]?.string == TestAuthority.clientID)
        #expect(reply["scope"]?.string == "openid offline_access \(TestAuthority.clientID)")
        let refresh = reply.text("refresh_token")
        #expect(refresh.utf8.count >= 800)
        #expect(refresh.split(separator: ".", omittingEmptySubsequences: false).count == 5)
        let profile = try JSONValue(parsing: Token.decode(reply.text("profile_info")))
        #expect(profile.object?.names == ["ver", "tid", "sub", "name", "preferred_username", "idp"])
    }

    @Test("With client_info, a response has other members, and resource scopes only; with openid alone no access token")
    func clientInformation() async throws {
        let api = "https%3A%2F%2Fcontoso.onmicrosoft.com%2Ftasks%2Ftasks."
        let reply = try await mock.token(
            "\(Self.form)&scope=openid+profile+\(api)write+\(api)read&client_info=1"
        ).json()
        #expect(
            reply.names == [
                "access_token", "id_token", "token_type", "not_before", "expires_in", "expires_on", "resource",
                "client_info", "scope",
            ])
        let information = try JSONValue(parsing: Token.decode(reply.text("client_info"))).object
        #expect(information?["uid"]?.string == "a11ce000-0000-4000-8000-000000000001-b2c_1_ropc")
        #expect(information?["utid"]?.string == "775527ff-9a37-4307-8b3d-cc311f58d925")
        let front = "https://contoso.onmicrosoft.com/tasks/tasks."
        #expect(reply["scope"]?.string == "\(front)write \(front)read")
        #expect(try reply.token("access_token").claims["scp"]?.string == "tasks.write tasks.read")
        let identity = try await mock.token("\(Self.form)&scope=openid").json()
        #expect(
            identity.names == ["id_token", "token_type", "not_before", "id_token_expires_in", "profile_info", "scope"])
    }

    @Test func `Tokens have the claims of the service in its order, and the published key signs them`() async throws {
        let reply = try await mock.token("\(Self.form)&scope=openid+\(TestAuthority.clientID)&nonce=n-1").json()
        let keys = try await mock.publicKeys()
        let access = try reply.token("access_token")
        #expect(access.header.names == ["alg", "kid", "typ"])
        #expect(access.isSigned(by: keys))
        #expect(
            access.claims.names == [
                "iss", "exp", "nbf", "aud", "oid", "sub", "idp", "name", "given_name", "family_name", "emails", "tfp",
                "nonce", "azp", "ver", "iat",
            ])
        let identity = try reply.token("id_token")
        #expect(identity.isSigned(by: keys))
        #expect(
            identity.claims.names == [
                "exp", "nbf", "ver", "iss", "sub", "aud", "nonce", "iat", "auth_time", "oid", "idp", "name",
                "given_name", "family_name", "emails", "tfp", "at_hash",
            ])
        #expect(identity.claims["idp"]?.string == "LocalAccount")
        #expect(identity.claims["emails"] == ["alice@example.com"])
        #expect(identity.claims["tfp"]?.string == "b2c_1_ropc")
        #expect(identity.claims["iss"]?.string == "http://127.0.0.1:3001/775527ff-9a37-4307-8b3d-cc311f58d925/v2.0/")
    }

    @Test func `Refusals are 400 with two members and three lines`() async throws {
        let response = try await mock.token(
            "grant_type=password&client_id=\(TestAuthority.clientID)&username=alice%40example.com&password=x&scope=openid",
            headers: ["client-request-id": "d1c7df34-8b90-4e1f-9d37-7a9ebd1d805a"])
        #expect(response.status == 400)
        #expect(response.headers["client-request-id"] == "d1c7df34-8b90-4e1f-9d37-7a9ebd1d805a")
        let body =
            #"{"error":"access_denied","error_description":"AADB2C90225: The username or password provided in the "#
            + #"request are invalid.\r\nCorrelation ID: d1c7df34-8b90-4e1f-9d37-7a9ebd1d805a\r\n"#
            + #"Timestamp: 2023-11-14 22:13:20Z\r\n"}"#
        #expect(response.text == body)
    }

    private static let who = "grant_type=password&client_id=\(TestAuthority.clientID)"
    private static let confidential = "grant_type=password&client_id=\(TestAuthority.confidential)"
    static let cases = [
        WrongRequest("client_id=\(TestAuthority.clientID)", "invalid_request", "90083"),
        WrongRequest("grant_type=password&username=a&password=b&scope=openid", "invalid_request", "90083"),
        WrongRequest("\(who)&password=b&scope=openid", "invalid_request", "90083"),
        WrongRequest("\(who)&username=a&scope=openid", "invalid_request", "90083"),
        WrongRequest("\(who)&username=a&password=b", "invalid_request", "90083"),
        WrongRequest("grant_type=device_code&client_id=\(TestAuthority.clientID)", "unsupported_grant_type", "90086"),
        WrongRequest(
            "grant_type=password&client_id=nobody&username=a&password=b&scope=openid", "unauthorized_client", "90018"),
        WrongRequest("\(who)&username=nobody&password=b&scope=openid", "access_denied", "90225"),
        WrongRequest("\(form)&scope=openid", "unauthorized_client", "90224", policy: "b2c_1_sign_in"),
        WrongRequest("\(form)&scope=openid&client_secret=x", "invalid_request", "90084"),
        WrongRequest("\(form)&scope=tasks.other", "invalid_scope", "90055"),
        WrongRequest("\(form)&scope=https://contoso.onmicrosoft.com/x/y", "invalid_scope", "90117"),
        WrongRequest("\(confidential)&username=a&password=b&scope=openid", "invalid_request", "90079"),
        WrongRequest("\(confidential)&client_secret=no&username=a&password=b&scope=openid", "invalid_client", "90081"),
        WrongRequest(
            "\(confidential)&client_secret=mock-secret&username=alice%40example.com&password=Passw0rd!"
                + "&scope=tasks.read+\(TestAuthority.confidential)", "invalid_request", "90146"),
    ]

    @Test(arguments: cases)
    func `Each wrong request has its own error`(_ mistake: WrongRequest) async throws {
        let response = try await mock.token(mistake.parameters, policy: mistake.policy)
        #expect(response.status == 400)
        let reply = try response.json()
        #expect(reply.names == ["error", "error_description"])
        #expect(reply["error"]?.string == mistake.error)
        #expect(reply["error_description"]?.string?.hasPrefix("AADB2C\(mistake.code): ") == true)
    }

    @Test(
        arguments: [
            ("client_id=\(TestAuthority.confidential)&client_secret=mock-secret", nil),
            ("", "Basic ZjFkMmMzYjQtMGE1ZS00YjZmLThjN2QtOWUwZjFhMmIzYzRkOm1vY2stc2VjcmV0"),
            (
                "client_id=\(TestAuthority.confidential)",
                "Basic ZjFkMmMzYjQtMGE1ZS00YjZmLThjN2QtOWUwZjFhMmIzYzRkOm1vY2stc2VjcmV0"
            ),
            // The public client, with an empty secret.
            ("", "Basic NTgwZTI1MGMtOGYyNi00OWQwLWJlZTgtMWMwNzhhZGQxNjA5Og=="),
            ("client_id=\(TestAuthority.clientID)&client_secret=", nil),
        ] as [(String, String?)])
    func `A confidential client can authenticate in each form`(form: String, authorization: String?) async throws {
        let headers: HeaderFields = authorization.map { ["Authorization": $0] } ?? HeaderFields()
        let response = try await mock.token(
            "grant_type=password&username=alice%40example.com&password=Passw0rd!&scope=openid&\(form)",
            headers: headers)
        #expect(response.status == 200)
        guard let authorization, form.isEmpty else { return }
        // One client in the field and another in the form.
        let other = try await mock.token(
            "grant_type=password&username=alice%40example.com&password=Passw0rd!&scope=openid&client_id=other",
            headers: ["Authorization": authorization])
        #expect(other.text.contains("AADB2C90011"))
    }

    @Test func `Parameters can be in the query, also for an empty one of the body`() async throws {
        let target = "/contoso.onmicrosoft.com/oauth2/v2.0/token?p=b2c_1_ropc"
        #expect(try await mock.ask(.post, "\(target)&\(Self.form)&scope=openid").status == 200)
        #expect(try await mock.ask(.post, "\(target)&\(Self.form)", body: "client_id=&scope=openid").status == 200)
        #expect(try await mock.ask(.post, target, body: "\(Self.form)&scope=openid&p=b2c_1_sign_in").status == 200)
    }
}
