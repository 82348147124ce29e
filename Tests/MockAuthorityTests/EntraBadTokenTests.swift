import HTTP
import JSON
@testable import MockAuthority
import Testing

@Suite("P-40: Bad tokens of External ID and Entra have the defect of their name", .timeLimit(.minutes(15)))
struct EntraBadTokenTests {
    let mock = TestAuthority.all()
    static let unknown = "00000000-0000-4000-8000-000000000000"

    private func issue(_ bad: BadToken, profile: String = "external-id") async throws -> Token {
        try await mock.issue("user=alice&profile=\(profile)&bad=\(bad.rawValue)")
    }

    @Test("Only the claims of the name differ from those of a good token")
    func defects() async throws {
        let good = try await mock.issue("user=alice&profile=external-id").claims
        let keys = try await mock.keys(at: "/\(EntraTenants.id)/discovery/v2.0/keys")
        let drawn = ["uti", "aio", "xms_ftd", "exp"]
        func differences(_ bad: BadToken) async throws -> [String] {
            let token = try await issue(bad)
            #expect(token.isSigned(by: keys), "\(bad.rawValue)")
            let claims = token.claims
            let names = Set(good.names + claims.names).subtracting(
                bad == .longLived ? ["uti", "aio", "xms_ftd"] : drawn)
            return names.filter { good[$0] != claims[$0] }.sorted()
        }
        #expect(try await differences(.noOID) == ["oid"])
        #expect(try await differences(.noTID) == ["tid"])
        #expect(try await differences(.noProfile) == ["name", "oid", "preferred_username", "tid"])
        #expect(try await differences(.tidMismatch) == ["tid"])
        #expect(try await differences(.otherTenant) == ["iss", "tid"])
        #expect(try await differences(.loginHostIssuer) == ["iss"])
        #expect(try await differences(.b2cIssuer) == ["iss"])
        #expect(try await differences(.audienceAPI) == ["aud"])
        #expect(try await differences(.scopeArray) == ["scp"])
        #expect(try await differences(.scopeClaim) == ["scope", "scp"])
        #expect(try await differences(.personalAccount) == ["iss", "tid"])
        #expect(try await differences(.guest) == ["idp"])
        #expect(try await differences(.longLived) == ["exp"])
    }

    @Test("Issuers, audiences and lifetimes are those that the services give")
    func values() async throws {
        let id = EntraTenants.id
        #expect(
            try await issue(.otherTenant).claims["iss"]?.string
                == "https://\(Self.unknown).ciamlogin.com/\(Self.unknown)/v2.0")
        #expect(
            try await issue(.loginHostIssuer).claims["iss"]?.string == "https://login.microsoftonline.com/\(id)/v2.0")
        #expect(try await issue(.b2cIssuer).claims["iss"]?.string == "https://contoso.b2clogin.com/\(id)/v2.0/")
        #expect(try await issue(.audienceAPI).claims["aud"]?.string == "api://\(EntraTenants.api)")
        #expect(try await issue(.scopeArray).claims["scp"] == ["Tasks.Read", "Tasks.Write"])
        #expect(try await issue(.scopeClaim).claims["scope"] == "Tasks.Read Tasks.Write")
        let personal = try await issue(.personalAccount, profile: "entra").claims
        #expect(personal["tid"] == "9188040d-6c67-4c5b-b112-36a304b66dad")
        let long = try await issue(.longLived).claims
        #expect((long["exp"]?.integer ?? 0) - (long["iat"]?.integer ?? 0) == 28 * 3600)
    }

    @Test("Where issuers name the host of the request, those of other tenants do too")
    func issuersOfRequests() async throws {
        let mock = TestAuthority.all { $0.issuerHost = .request }
        for profile in ["external-id", "entra"] {
            let other = try await mock.issue("user=alice&profile=\(profile)&bad=other-tenant").claims
            #expect(other["iss"]?.string == "http://mock.test:3001/\(Self.unknown)/v2.0")
        }
        let personal = try await mock.issue("user=alice&profile=entra&bad=personal-account")
        let keys = try await mock.document("/common/discovery/v2.0/keys")["keys"]?.array ?? []
        let key = try #require(keys.compactMap(\.object).first { $0["kid"] == personal.header["kid"] })
        #expect(personal.claims["iss"] == key["issuer"])
    }

    @Test("Tokens of version 1, of Graph and of applications have the shape of theirs")
    func shapes() async throws {
        let old = try await issue(.v1)
        #expect(old.header.names == ["typ", "alg", "x5t", "kid"] && old.header["x5t"] == old.header["kid"])
        #expect(
            old.claims["iss"]?.string == "https://sts.windows.net/\(EntraTenants.id)/" && old.claims["ver"] == "1.0")
        #expect(old.claims["appid"]?.string == EntraTenants.client && old.claims["azp"] == nil)
        let graph = try await issue(.graph)
        #expect(graph.header.names == ["typ", "nonce", "alg", "x5t", "kid"])
        #expect(graph.claims["aud"] == "00000003-0000-0000-c000-000000000000")
        let daemon = try await issue(.appOnly).claims
        #expect(
            daemon["scp"] == nil && daemon["roles"] != nil && daemon["oid"] == daemon["sub"] && daemon["idtyp"] == nil)
        #expect(try await issue(.appOnlyWithType).claims["idtyp"] == "app")
    }

    @Test("Claims can be changed in bad tokens too")
    func changes() async throws {
        let token = try await mock.issue("user=alice&profile=external-id&bad=scp-array&claim=scp=%5B%22x%22%5D&exp=60")
        #expect(token.claims["scp"] == ["x"] && token.claims["exp"]?.integer == TestAuthority.now + 60)
    }
}
