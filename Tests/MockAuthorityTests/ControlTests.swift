import HTTP
import JSON
@testable import MockAuthority
import Support
import Testing

@Suite("The controls issue tokens of every kind")
struct ControlTests {
    let mock = TestAuthority()

    @Test func `One request gives a good token`() async throws {
        let response = try await mock.get("/_mock/token?user=alice")
        #expect(response.status == 200 && response.headers["Content-Type"]?.hasPrefix("text/plain") == true)
        // A newline at the end would make the header field of a client that sends the answer as it is.
        let token = try Token(response.text)
        #expect(token.isSigned(by: try await mock.publicKeys()))
        #expect(token.claims["aud"]?.string == TestAuthority.clientID)
        #expect(token.claims["tfp"]?.string == "b2c_1_sign_in")
        #expect(token.claims["scp"] == nil)
        #expect(token.claims["oid"]?.string == "a11ce000-0000-4000-8000-000000000001")
    }

    @Test func `Policy, scope, times and claims are as requested`() async throws {
        let claims = try await mock.issue(
            "user=bob@example.com&policy=B2C_1_FACEBOOK&scope=tasks.read%20tasks.write&exp=-1h"
                + "&claim=name=B&claim=extension_level=3&drop=emails&nonce=n"
        ).claims
        #expect(claims["scp"]?.string == "tasks.read tasks.write")
        #expect(claims["tfp"]?.string == "b2c_1_facebook")
        #expect(
            claims["exp"]?.integer == TestAuthority.now - 3600 && claims["iat"]?.integer == TestAuthority.now - 7200)
        #expect(claims["name"]?.string == "B" && claims["extension_level"]?.integer == 3)
        #expect(claims["emails"] == nil && claims["nonce"]?.string == "n")
    }

    @Test func `JSON is the whole response, and the scope openid alone gives an ID token`() async throws {
        let reply = try await mock.get(
            "/_mock/token?user=alice&scope=openid%20tasks.read", ["Accept": "application/json"]
        ).json()
        #expect(reply["access_token"] != nil && reply["id_token"] != nil && reply["expires_in"]?.integer == 3600)
        let identity = try await mock.issue("user=alice&scope=openid")
        #expect(identity.claims["auth_time"]?.integer == TestAuthority.now)
    }

    @Test(arguments: [
        "", "?user=carol", "?user=alice&policy=b2c_1_x", "?user=alice&bad=perfect", "?user=alice&exp=soon",
        "?user=alice&expires=1h", "?user=alice&scope=x", "?user=alice&client=x", "?user=alice&claim=x",
        "?user=alice&exp=-9223372036854775808", "?user=alice&profile=azure", "?user=alice&kid=none",
        "?user=alice&profile=entra&tenant=contoso.onmicrosoft.com",
        "?user=alice&profile=external-id&policy=b2c_1_x",
    ])
    func `A request for a token that cannot be issued is refused with the reason`(query: String) async throws {
        let response = try await TestAuthority.all().get("/_mock/token\(query)")
        #expect(response.status == 400)
        #expect(response.text.utf8.count > 20)
    }
}

@Suite("Keys rotate on request")
struct KeyControlTests {
    let mock = TestAuthority()

    private func take(_ step: String) async throws -> [String] {
        let keys = try await mock.ask(.post, "/_mock/keys", body: "{\"do\":\"\(step)\"}").json()["keys"]?.array
        return (keys ?? []).compactMap { $0.object?["state"]?.string }
    }

    private func signer() async throws -> String { try await mock.issue("user=alice").header.text("kid") }

    @Test func `Keys are published, activated and retired in the steps of real services`() async throws {
        let first = try await signer()
        #expect(try await take("publish") == ["active", "published"])
        #expect(try await signer() == first)
        #expect(try await mock.publicKeys().count == 2)
        #expect(try await take("activate") == ["published", "active"])
        #expect(try await signer() != first)
        #expect(try await take("retire") == ["active", "retired"])
        #expect(try await mock.publicKeys().keys.contains(first) == false)
        #expect(try await mock.issue("user=alice&bad=retired-key").header["kid"]?.string == first)
    }

    @Test func `The answer to GET gives each key its earlier state again when it is put`() async throws {
        let first = try await signer()
        let before = try await mock.get("/_mock/keys").text
        #expect(try await take("rotate") == ["active", "retired"])
        let restored = try await mock.ask(.put, "/_mock/keys", body: before)
        #expect(restored.status == 200)
        #expect(try await signer() == first)
        #expect(try await Array(mock.publicKeys().keys) == [first])
        #expect(try await mock.get("/_mock/keys").text == restored.text)
        for body in ["{}", "x", #"{"keys":[{"kid":"unknown","state":"active"}]}"#, #"{"keys":[{"kid":"x"}]}"#] {
            #expect(try await mock.ask(.put, "/_mock/keys", body: body).status == 400)
        }
        #expect(try await signer() == first)
    }
}
