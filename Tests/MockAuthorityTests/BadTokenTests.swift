import Basics
import HTTP
import JSON
@testable import MockAuthority
import OpenSSL
import Support
import Testing

@Suite("P-40: Bad tokens have the defect of their name")
struct BadTokenTests {
    let mock = TestAuthority.all()
    static let unknown = "00000000-0000-4000-8000-000000000000"

    private func issue(_ bad: String, profile: String = "b2c") async throws -> Token {
        try await mock.issue("user=alice&profile=\(profile)&bad=\(bad)")
    }

    @Test func `The list has every documented name, with the expected response`() async throws {
        let names =
            """
            expired not-yet-valid no-exp wrong-aud aud-array wrong-iss iss-without-slash wrong-tenant wrong-policy \
            acr-only no-policy wrong-scp no-scp id-token unknown-kid no-kid unpublished-key retired-key bad-signature \
            truncated alg-none hs256-with-public-key rs512 typ-other crit-header huge not-json alg-none-mixed-case \
            empty-signature hs256-empty-secret kid-path kid-sql jwk-header jku-header x5u-header x5c-header \
            other-key-same-kid ps256 es256-own-key es256-zero-signature nested nested-unsigned encrypted many-dots other-claims \
            duplicate-claim duplicate-alg iss-array iss-part no-iss aud-empty no-aud exp-text
            """.split(separator: " ").map(String.init)
        let lines = try await mock.get("/_mock/token/bad").text.split(separator: "\n").map(String.init)
        #expect(lines.map { String($0.prefix { $0 != " " }) } == names)
        #expect(lines[0].hasPrefix("expired                401 token.expired  "))
        let list = try await mock.get("/_mock/token/bad", ["Accept": "application/json"])
        let entries = try JSONValue(parsing: list.body).array ?? []
        #expect(entries.count == names.count)
        for entry in entries {
            #expect(
                entry.object?.names == [
                    "name", "status", "code", "statusWithScopes", "codeWithScopes", "words", "kind", "danger",
                    "forbiddenBy",
                    "remedy",
                ])
        }
    }

    @Test func `The published holes of validators are listed with bad tokens that exist`() throws {
        let document = String(decoding: try TestFile("../../docs/internals/token-validation.md").bytes(), as: UTF8.self)
        let rows = document.split(separator: "\n").filter {
            $0.hasPrefix("| ") && ($0.contains("V-") || $0.contains("P-"))
        }
        #expect(rows.count >= 25)
        let named = rows.flatMap { row in
            row.split(separator: "|")[2].split(separator: "`").enumerated().filter { $0.offset % 2 == 1 }.map(\.element)
        }.filter { !$0.hasSuffix(".json") }.map(String.init)
        #expect(Set(named).subtracting(BadToken.all.map(\.name)) == [])
        // Text is a wrong type of exp, which no hole of its own is known for.
        #expect(Set(BadToken.ofKnownHoles.map(\.name)).subtracting(named) == ["exp-text"])
    }

    /// The claims of each bad token that differ from those of a good token of the same service.
    static let changedClaims: KeyValuePairs<String, [String: String]> = [
        "b2c": [
            "expired": "exp iat nbf", "not-yet-valid": "exp nbf", "no-exp": "exp", "exp-text": "exp",
            "wrong-aud": "aud", "aud-array": "aud", "aud-empty": "aud", "no-aud": "aud", "wrong-iss": "iss",
            "iss-without-slash": "iss", "wrong-tenant": "iss", "iss-array": "iss", "iss-part": "iss",
            "no-iss": "iss", "wrong-policy": "tfp", "acr-only": "acr tfp", "no-policy": "tfp", "wrong-scp": "scp",
            "no-scp": "scp",
        ],
        "external-id": [
            "no-oid": "oid", "no-tid": "tid", "no-profile": "name oid preferred_username tid",
            "tid-mismatch": "tid", "other-tenant": "iss tid", "login-host-issuer": "iss", "b2c-issuer": "iss",
            "aud-api-uri": "aud", "scp-array": "scp", "scope-claim": "scope scp", "personal-account": "iss tid",
            "guest": "idp", "cae-28h": "exp",
        ],
    ]

    @Test("Only the claims of the name differ from those of a good token, and the published key signs them")
    func claims() async throws {
        for (profile, changes) in Self.changedClaims {
            let scope = profile == "b2c" ? "&scope=tasks.read%20tasks.write" : ""
            let good = try await mock.issue("user=alice&profile=\(profile)\(scope)").claims
            var keys = try await mock.publicKeys()
            if profile != "b2c" { keys = try await mock.keys(at: "/\(EntraTenants.id)/discovery/v2.0/keys") }
            for (bad, names) in changes {
                let token = try await issue(bad, profile: profile)
                #expect(token.isSigned(by: keys), "\(bad)")
                let drawn = ["uti", "aio", "xms_ftd"] + (bad == "cae-28h" || profile == "b2c" ? [] : ["exp"])
                let all = Set(good.names + token.claims.names).subtracting(drawn)
                #expect(all.filter { good[$0] != token.claims[$0] }.sorted().joined(separator: " ") == names, "\(bad)")
            }
        }
    }

    @Test
    func `Times, issuers, audiences and scopes are those that the names say and the services give`() async throws {
        #expect(try await issue("expired").claims["exp"]?.integer == TestAuthority.now - 3600)
        #expect(try await issue("not-yet-valid").claims["nbf"]?.integer == TestAuthority.now + 3600)
        #expect(try await issue("aud-array").claims["aud"]?.array?.count == 2)
        #expect(try await issue("iss-without-slash").claims["iss"]?.string?.hasSuffix("/v2.0") == true)
        #expect(try await issue("acr-only").claims["acr"] == "b2c_1_sign_in")
        #expect(try await issue("id-token").claims["auth_time"] != nil)
        let id = EntraTenants.id
        for (bad, claim, value) in [
            ("other-tenant", "iss", .string("https://\(Self.unknown).ciamlogin.com/\(Self.unknown)/v2.0")),
            ("login-host-issuer", "iss", .string("https://login.microsoftonline.com/\(id)/v2.0")),
            ("b2c-issuer", "iss", .string("https://contoso.b2clogin.com/\(id)/v2.0/")),
            ("aud-api-uri", "aud", .string("api://\(EntraTenants.api)")),
            ("scp-array", "scp", ["Tasks.Read", "Tasks.Write"]),
            ("scope-claim", "scope", "Tasks.Read Tasks.Write"),
        ] as [(String, String, JSONValue)] {
            #expect(try await issue(bad, profile: "external-id").claims[claim] == value, "\(bad)")
        }
        let personal = try await issue("personal-account", profile: "entra").claims
        #expect(personal["tid"] == "9188040d-6c67-4c5b-b112-36a304b66dad")
        let long = try await issue("cae-28h", profile: "external-id").claims
        #expect((long["exp"]?.integer ?? 0) - (long["iat"]?.integer ?? 0) == 28 * 3600)
    }

    @Test(
        "A wrong header or signature is refused by the published keys",
        arguments: [
            ("unknown-kid", "RS256", 256), ("no-kid", "RS256", 256), ("unpublished-key", "RS256", 256),
            ("retired-key", "RS256", 256), ("bad-signature", "RS256", 256), ("truncated", "RS256", 252),
            ("alg-none", "none", 0), ("hs256-with-public-key", "HS256", 32), ("rs512", "RS512", 256),
            ("alg-none-mixed-case", "nOnE", 0), ("empty-signature", "RS256", 0), ("hs256-empty-secret", "HS256", 32),
            ("kid-path", "HS256", 32), ("kid-sql", "HS256", 32), ("jwk-header", "RS256", 256),
            ("jku-header", "RS256", 256), ("x5u-header", "RS256", 256), ("x5c-header", "RS256", 256),
            ("other-key-same-kid", "RS256", 256), ("ps256", "PS256", 256), ("es256-own-key", "ES256", 64),
            ("es256-zero-signature", "ES256", 64), ("other-claims", "RS256", 256),
        ])
    func signatures(bad: String, algorithm: String, count: Int) async throws {
        let (token, keys) = (try await issue(bad), try await mock.publicKeys())
        #expect(token.header["alg"]?.string == algorithm && token.signature.count == count)
        #expect(!token.isSigned(by: keys))
        #expect((token.header["kid"] == nil) == (bad == "no-kid"))
        let isOfStranger = bad.hasSuffix("-header") || bad == "other-key-same-kid"
        if isOfStranger { #expect(keys[token.header.text("kid")] != nil) }
        if bad.hasSuffix("-header") { #expect(token.header[String(bad.dropLast(7))] != nil) }
    }

    @Test
    func `A token that is no header with claims and one signature over both has the form of its name`() async throws {
        func parts(_ bad: String) async throws -> [String] {
            try await mock.text("user=alice&bad=\(bad)").split(separator: ".", omittingEmptySubsequences: false)
                .map(String.init)
        }
        #expect(try await parts("encrypted").count == 5)
        #expect(try await parts("many-dots").count == 8001)
        #expect((16_385...18_000).contains(try await mock.text("user=alice&bad=huge").utf8.count))
        let key = try #require(try await mock.publicKeys().values.first)
        // These are signed by the key, so nothing but what their names say is wrong with them.
        for (bad, part, mark) in [
            ("nested", 1, "eyJ"), ("duplicate-claim", 1, "{\"oid\":\"0000"), ("duplicate-alg", 0, "{\"alg\":\"none\","),
            ("not-json", 1, "This is not"), ("typ-other", 0, "{\"alg\":\"RS256\""), ("crit-header", 0, "{\"alg\""),
        ] {
            let parts = try await parts(bad)
            let (signature, input) = (Token.decode(parts[2]), Array("\(parts[0]).\(parts[1])".utf8))
            #expect(key.verifies(signature: signature, of: input), "\(bad)")
            #expect(String(decoding: Token.decode(parts[part]), as: UTF8.self).hasPrefix(mark), "\(bad)")
        }
        #expect(try await issue("typ-other").header["typ"] == "secevent+jwt")
        #expect(try await issue("crit-header").header["crit"] == ["mock"])
    }

    @Test func `Where issuers name the host of the request, those of other tenants do too`() async throws {
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

    @Test func `Tokens of version 1, of Graph and of applications have the shape of theirs`() async throws {
        let old = try await issue("v1", profile: "external-id")
        #expect(old.header.names == ["typ", "alg", "x5t", "kid"] && old.header["x5t"] == old.header["kid"])
        #expect(
            old.claims["iss"]?.string == "https://sts.windows.net/\(EntraTenants.id)/" && old.claims["ver"] == "1.0")
        #expect(old.claims["appid"]?.string == EntraTenants.client && old.claims["azp"] == nil)
        let graph = try await issue("graph", profile: "external-id")
        #expect(graph.header.names == ["typ", "nonce", "alg", "x5t", "kid"])
        #expect(graph.claims["aud"] == "00000003-0000-0000-c000-000000000000")
        let daemon = try await issue("app-only", profile: "external-id").claims
        #expect(
            daemon["scp"] == nil && daemon["roles"] != nil && daemon["oid"] == daemon["sub"] && daemon["idtyp"] == nil)
        #expect(try await issue("app-only-with-idtyp", profile: "external-id").claims["idtyp"] == "app")
    }

    @Test func `Claims can be changed in bad tokens too`() async throws {
        let token = try await mock.issue("user=alice&profile=external-id&bad=scp-array&claim=scp=%5B%22x%22%5D&exp=60")
        #expect(token.claims["scp"] == ["x"] && token.claims["exp"]?.integer == TestAuthority.now + 60)
    }
}
