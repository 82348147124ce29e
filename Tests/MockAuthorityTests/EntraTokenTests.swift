import HTTP
import JSON
@testable import MockAuthority
import Testing

@Suite("Tokens of External ID and Entra are like those of the services")
struct EntraTokenTests {
    let mock = TestAuthority.all()

    @Test
    func `An access token has the claims of the service in its order, and the published key signs it`() async throws {
        let token = try await mock.issue("user=alice&profile=external-id")
        #expect(token.header.names == ["typ", "alg", "kid"])
        #expect(token.isSigned(by: try await mock.keys(at: "/\(EntraTenants.id)/discovery/v2.0/keys")))
        #expect(
            token.claims.names == [
                "aud", "iss", "iat", "nbf", "exp", "aio", "azp", "azpacr", "name", "oid", "preferred_username", "rh",
                "scp", "sid", "sub", "tid", "uti", "ver", "xms_ftd",
            ])
        #expect(token.claims["aud"]?.string == EntraTenants.api && token.claims["azp"]?.string == EntraTenants.client)
        #expect(token.claims["iss"]?.string == EntraTenants.issuer && token.claims["ver"] == "2.0")
        #expect(token.claims["scp"] == "Tasks.Read Tasks.Write" && token.claims["tid"]?.string == EntraTenants.id)
        #expect(token.claims["oid"]?.string == EntraTenants.external.users[0].objectID)
        #expect(token.claims["preferred_username"] == "alice@example.com")
    }

    @Test
    func `P-39: sub differs in the ID token and for another person, and is the same after a restart`() async throws {
        func subject(_ query: String, _ mock: TestAuthority) async throws -> String {
            try await mock.issue("profile=external-id&\(query)").claims.text("sub")
        }
        let access = try await subject("user=alice", mock)
        let identity = try await subject("user=alice&scope=openid%20profile", mock)
        let bob = try await subject("user=bob", mock)
        #expect(Set([access, identity, bob]).count == 3)
        #expect(access.utf8.count == 43 && !access.contains("a11ce"))
        #expect(try await subject("user=alice", .all()) == access)
    }

    @Test("P-39: uti is unique, and the lifetime is between 3900 and 5700 seconds, or the one that is set")
    func unique() async throws {
        var (names, lifetimes): (Set<String>, Set<Int64>) = ([], [])
        for _ in 0..<20 {
            let claims = try await mock.issue("user=alice&profile=external-id").claims
            let (issued, expires) = (try #require(claims["iat"]?.integer), try #require(claims["exp"]?.integer))
            #expect((3900...5700).contains(expires - issued))
            names.insert(claims.text("uti"))
            lifetimes.insert(expires - issued)
        }
        #expect(names.count == 20 && lifetimes.count > 1)
        let fixed = TestAuthority.all { $0.tokenLifetime = 600 }
        let claims = try await fixed.issue("user=alice&profile=external-id").claims
        #expect(claims["exp"]?.integer == (claims["iat"]?.integer ?? 0) + 600)
    }

    @Test func `App roles are those of the configuration, of each person and each client at each API`() async throws {
        let client = EntraTenants.client
        let file = """
            {"externalID": {"resources": [
                {"identifier": "api://a", "audience": "a", "scopes": ["Read"],
                 "roles": {"ALICE@example.com": ["Admin", "Reader"], "\(client)": ["All"]}},
                {"identifier": "api://b", "audience": "\(client)", "scopes": ["Read"],
                 "roles": {"alice@example.com": ["Owner"]}}
            ]}}
            """
        let mock = TestAuthority(try Configuration(parsing: Array(file.utf8)))
        func roles(_ user: String, _ scope: String) async throws -> JSONValue? {
            try await mock.issue("user=\(user)&profile=external-id&scope=\(scope)").claims["roles"]
        }
        #expect(try await roles("alice", "api://a/Read") == ["Admin", "Reader"])
        #expect(try await roles("alice", "api://b/Read") == ["Owner"])
        #expect(try await roles("bob", "api://a/Read") == nil)
        #expect(try await roles("alice", "email") == ["Owner"])
        let daemon = Configuration.externalID.applications.clients[1].id
        let form = "client_id=\(daemon)&client_secret=mock-secret&grant_type=client_credentials&scope=api://a/.default"
        let own = try await mock.ask(.post, "\(EntraFlowTests.front)/oauth2/v2.0/token", body: form).json()
        #expect(try own.token("access_token").claims["roles"] == nil)
        #expect(throws: InputError.self) {
            try Configuration(
                parsing: Array(#"{"resources":[{"identifier":"a","audience":"a","roles":{"x":"y"}}]}"#.utf8))
        }
    }

    @Test func `An ID token is for the client, and has no scp`() async throws {
        let claims = try await mock.issue("user=alice&profile=external-id&scope=openid%20profile%20email&nonce=n")
            .claims
        #expect(
            claims.names == [
                "aud", "iss", "iat", "nbf", "exp", "aio", "email", "name", "nonce", "oid", "preferred_username", "rh",
                "sid", "sub", "tid", "uti", "ver",
            ])
        #expect(claims["aud"]?.string == EntraTenants.client && claims["nonce"] == "n")
        #expect((claims["exp"]?.integer ?? 0) - (claims["iat"]?.integer ?? 0) == 3900)
    }

    @Test func `Each tenant of Entra issues tokens of its own for one API, with one set of keys`() async throws {
        let fabrikam = try await mock.issue("user=alice&profile=entra")
        let northwind = try await mock.issue("user=alice&profile=entra&tenant=northwind.onmicrosoft.com")
        let id = EntraTenants.northwind.tenant.id
        #expect(northwind.claims["iss"]?.string == "https://login.microsoftonline.com/\(id)/v2.0")
        #expect(northwind.claims["tid"]?.string == id && fabrikam.claims["tid"] != northwind.claims["tid"])
        #expect(fabrikam.claims["aud"] == northwind.claims["aud"] && fabrikam.claims["oid"] != northwind.claims["oid"])
        // Without High Scale Compatibility, a person has another oid in each tenant.
        let others = [try await mock.issue("user=alice"), try await mock.issue("user=alice&profile=external-id")]
        #expect(Set((others + [fabrikam, northwind]).map { $0.claims.text("oid") }).count == 4)
        let keys = try await mock.keys(at: "/organizations/discovery/v2.0/keys")
        #expect(fabrikam.isSigned(by: keys) && northwind.isSigned(by: keys))
    }

    @Test("P-38: With High Scale Compatibility, B2C and External ID are one tenant: the same id, accounts and oid")
    func highScaleCompatibility() async throws {
        let mock = TestAuthority.all { $0.highScaleCompatibility = true }
        let id = Tenant.contoso.id
        let b2c = try await mock.issue("user=alice").claims
        let external = try await mock.issue("user=alice&profile=external-id").claims
        #expect(b2c["oid"] == external["oid"] && external["tid"]?.string == id)
        #expect(external["iss"]?.string == "https://\(id).ciamlogin.com/\(id)/v2.0")
        #expect(
            b2c["iss"]?.string?.contains(id) == true && b2c["sub"] != external["sub"] && b2c["aud"] != external["aud"])
        let body = #"{"email":"carol@example.com","password":"Passw0rd!"}"#
        _ = try await mock.ask(.put, "/_mock/users/carol@example.com", body: body)
        let carol = try await mock.issue("user=carol@example.com&profile=external-id").claims["oid"]
        #expect(try await mock.issue("user=carol@example.com").claims["oid"] == carol)
        // A policy in the URL is B2C's, none is External ID's.
        #expect(try await mock.document("/\(id)/\(EntraTenants.document)")["issuer"] == external["iss"])
        #expect(try await mock.document("/\(id)/b2c_1_sign_in/\(EntraTenants.document)")["issuer"] == b2c["iss"])
    }

    @Test func `A token can be signed by the key of any other tenant`() async throws {
        let b2c = try await mock.publicKeys()
        let token = try await mock.issue("user=alice&profile=external-id&kid=\(b2c.keys.first ?? "")")
        #expect(token.isSigned(by: b2c) && token.claims["iss"]?.string == EntraTenants.issuer)
    }

}
