import HTTP
import JSON
@testable import MockAuthority
import Support
import Testing

@Suite("Tenants of Entra give tokens for Microsoft Graph, and tokens on behalf of a person")
struct EntraScopeTests {
    let mock = TestAuthority.all { $0.passwordGrant = true }
    private static let graph = "00000003-0000-0000-c000-000000000000"
    private static let person =
        "\(EntraFlowTests.who)&grant_type=password&username=alice@example.com&password=Passw0rd!&scope="
    private static let daemon = "\(EntraFlowTests.daemon)&grant_type=client_credentials&scope="
    private static let api = "client_id=\(EntraTenants.api)&client_secret=mock-secret"
    private static let onBehalf =
        "\(api)&grant_type=urn:ietf:params:oauth:grant-type:jwt-bearer&requested_token_use=on_behalf_of"

    private func token(_ body: String) async throws -> JSONObject {
        try await mock.ask(.post, "\(EntraFlowTests.front)/oauth2/v2.0/token", body: body).json()
    }

    @Test(arguments: ["User.Read", "user.read", "https://graph.microsoft.com/User.Read"])
    func `A scope of Graph gives a token that only Graph can verify`(scope: String) async throws {
        let reply = try await token("\(Self.person)openid+profile+\(scope)")
        #expect(reply["scope"]?.string == "openid profile \(scope)")
        let access = try reply.token("access_token")
        #expect(access.claims["aud"]?.string == Self.graph && access.header["nonce"] != nil)
        #expect(access.claims["scp"] == "openid profile User.Read")
    }

    @Test(
        "A misspelt scope is told by its name and its resource",
        arguments: [
            ("User.Reed", "User.Reed", graph), ("https://graph.microsoft.com/User.Reed", "User.Reed", graph),
            ("api://\(EntraTenants.api)/Tasks.Reed", "Tasks.Reed", EntraTenants.api),
        ])
    func misspelt(scope: String, name: String, resource: String) async throws {
        let target =
            "\(EntraFlowTests.front)/oauth2/v2.0/authorize?\(EntraFlowTests.who)&response_type=code"
            + "&redirect_uri=http://localhost&scope=openid+\(scope)"
        let answer = try await mock.get(target)
        #expect(answer.answer("error") == "invalid_client")
        let text = answer.answer("error_description") ?? ""
        #expect(text.hasPrefix("AADSTS650053: The application 'To-do app' asked for scope '\(name)' that"))
        #expect(text.contains("on the resource '\(resource)'."))
        #expect(try await token("\(Self.person)\(scope)")["error_codes"] == [650_053])
    }

    @Test func `An API changes the token of a person into one for the next API, and renews that`() async throws {
        let assertion = try await mock.text("user=alice&profile=external-id")
        let scope = "offline_access+https://graph.microsoft.com/User.Read"
        let reply = try await token("\(Self.onBehalf)&assertion=\(assertion)&scope=\(scope)")
        let claims = try reply.token("access_token").claims
        #expect(claims["aud"]?.string == Self.graph && claims["appid"]?.string == EntraTenants.api)
        #expect(claims["oid"]?.string == EntraTenants.external.users[0].objectID && claims["appidacr"] == "1")
        let refresh = "\(Self.api)&grant_type=refresh_token&refresh_token=\(reply.text("refresh_token"))"
        #expect(try await token(refresh)["access_token"] != nil)
        // Without the scope `profile` a token names its person by `sub` only.
        let scopeOfTasks = "api://\(EntraTenants.api)/Tasks.Read"
        let nameless = try await token("\(Self.person)\(scopeOfTasks)")["access_token"]?.string ?? ""
        #expect(try Token(nameless).claims["oid"] == nil)
        #expect(try await token("\(Self.onBehalf)&assertion=\(nameless)&scope=User.Read")["access_token"] != nil)
    }

    @Test func `A token that is no token of a person for the API is refused`() async throws {
        let good = try await mock.text("user=alice&profile=external-id")
        let forGraph = try await token("\(Self.person)User.Read")["access_token"]?.string ?? ""
        let identity = try await token("\(Self.person)openid+profile")["id_token"]?.string ?? ""
        let ofDaemon = try await token("\(Self.daemon)api://\(EntraTenants.api)/.default")
        let application = ofDaemon.text("access_token")
        let old = try await mock.text("user=alice&profile=external-id&exp=-1h")
        for (assertion, number) in [
            ("a.b.c", 50013), (String(good.dropLast(4)) + "AAAA", 50013), (forGraph, 50013), (identity, 500_131),
            (application, 50034), (old, 500_133),
        ] as [(String, Int64)] {
            let reply = try await token("\(Self.onBehalf)&assertion=\(assertion)&scope=User.Read")
            #expect(reply["error"] == "invalid_grant" && reply["error_codes"] == [.integer(number)], "\(reply)")
        }
        let body = "&assertion=\(good)&scope=User.Read"
        let wrongSecret = "\(Self.api)x\(Self.onBehalf.dropFirst(Self.api.count))\(body)"
        #expect(try await token(wrongSecret)["error_codes"] == [7_000_215])
        let grant = "&grant_type=\(TokenEndpoint.assertionGrantType)\(body)"
        #expect(try await token(Self.api + grant)["error_codes"] == [900_144])
        let b2c = "client_id=\(TestAuthority.clientID)\(grant)"
        #expect(try await mock.token(b2c).json()["error"] == "unsupported_grant_type")
    }
}
