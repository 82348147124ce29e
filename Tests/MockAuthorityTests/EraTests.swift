import HTTP
import JSON
@testable import MockAuthority
import Support
import Testing

@Suite("Old eras answer as the service did then")
struct EraTests {
    @Test func `Keys of the preview have the name of a container, and are never named alike`() async throws {
        let mock = TestAuthority { $0.behaviour.era = .preview2015 }
        var names = try await mock.publicKeys().keys.sorted()
        for _ in 0..<12 {
            _ = try await mock.authority.b2c.keys.take(.rotate)
            names += try await mock.publicKeys().keys.sorted()
        }
        #expect(names.count == 13 && Set(names).count == 13)
        #expect(names.prefix(2) == ["IdTokenSigningKeyContainer", "IdTokenSigningKeyContainer.v2"])
        let token = try await mock.issue("user=alice")
        #expect(token.header["kid"]?.string == names.last)
        #expect(token.isSigned(by: try await mock.publicKeys()))
    }

    @Test(
        "A confidential client gets a token of its own, which is of the era like the reply, and a public one gets none",
        arguments: Era.allCases)
    func application(era: Era) async throws {
        let form = TestAuthority.daemonForm
        let mock = TestAuthority { $0.behaviour.era = era }
        let reply = try await mock.token(form, policy: "b2c_1_sign_in").json()
        #expect(reply.names == ["access_token", "token_type", "not_before", "expires_in", "expires_on", "resource"])
        let claims = try reply.token("access_token").claims
        #expect(claims["oid"] == nil && claims["scp"] == "tasks.read tasks.write")
        let (policy, other) = era == .preview2015 ? ("acr", "tfp") : ("tfp", "acr")
        #expect(claims[policy] == "b2c_1_sign_in" && claims[other] == nil)
        let values = [3600, TestAuthority.now + 3600, TestAuthority.now]
        let (numbers, texts) = (values.map { JSONValue.integer($0) }, values.map { JSONValue.string(String($0)) })
        let names = ["expires_in", "expires_on", "not_before"]
        #expect(names.compactMap { reply[$0] } == (era == .current ? numbers : texts))
        let adal = try await mock.token(form, policy: "b2c_1_sign_in", headers: ["x-client-SKU": "iOS"]).json()
        #expect(names.compactMap { adal[$0] } == texts)
        let secret = "\(TestAuthority.confidential)&client_secret=mock-secret"
        #expect(try await mock.token(form.replacing(secret, with: TestAuthority.clientID)).code() == "90079")
    }
}
