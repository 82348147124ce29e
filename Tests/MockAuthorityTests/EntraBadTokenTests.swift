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

    @Test("The list of each profile has its names, with the expected response")
    func catalogue() async throws {
        let general =
            "expired not-yet-valid no-exp wrong-aud aud-array wrong-iss wrong-scp no-scp id-token unknown-kid no-kid "
            + "unpublished-key retired-key bad-signature truncated alg-none hs256-with-public-key rs512 typ-other "
            + "crit-header huge not-json "
        let start = "v1 graph app-only app-only-with-idtyp no-oid no-tid no-profile tid-mismatch other-tenant "
        let end = "aud-api-uri scp-array scope-claim personal-account guest cae-28h"
        for (profile, names) in [
            ("external-id", general + start + "login-host-issuer b2c-issuer " + end), ("entra", general + start + end),
        ] {
            let lines = try await mock.get("/_mock/token/bad?profile=\(profile)").text.split(separator: "\n")
            #expect(lines.map { String($0.prefix { $0 != " " }) }.joined(separator: " ") == names)
            for name in names.split(separator: " ") {
                let response = try await mock.get("/_mock/token?user=alice&profile=\(profile)&bad=\(name)")
                #expect(response.status == 200 && response.text.utf8.count < 9000, "\(name)")
            }
        }
        #expect(try await mock.get("/_mock/token?user=alice&bad=graph").status == 400)
        #expect(try await mock.get("/_mock/token?user=alice&profile=external-id&bad=wrong-policy").status == 400)
    }

    @Test(
        "Every defect but that of the Graph token is signed by a published key",
        arguments: BadToken.entries(of: .externalID).map(\.bad).drop { $0 != .v1 })
    func signature(_ bad: BadToken) async throws {
        let path = bad == .personalAccount ? "common" : EntraTenants.id
        let profile = bad == .personalAccount ? "entra" : "external-id"
        let token = try await issue(bad, profile: profile)
        #expect(token.isSigned(by: try await mock.keys(at: "/\(path)/discovery/v2.0/keys")) != (bad == .graph))
    }

    @Test("Only the claims of the name differ from those of a good token")
    func defects() async throws {
        let good = try await mock.issue("user=alice&profile=external-id").claims
        let drawn = ["uti", "aio", "xms_ftd", "exp"]
        func differences(_ bad: BadToken) async throws -> [String] {
            let claims = try await issue(bad).claims
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
