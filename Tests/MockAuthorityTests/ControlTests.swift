import Basics
import HTTP
import JSON
@testable import MockAuthority
import OpenSSL
import Support
import Testing

@Suite("The controls issue tokens of every kind", .timeLimit(.minutes(15)))
struct ControlTests {
    let mock = TestAuthority()

    @Test("One request gives a good token")
    func token() async throws {
        let response = try await mock.get("/_mock/token?user=alice")
        #expect(response.status == 200 && response.text.hasSuffix("\n"))
        let token = try Token(String(response.text.dropLast()))
        #expect(token.isSigned(by: try await mock.publicKeys()))
        #expect(token.claims["aud"]?.string == TestAuthority.clientID)
        #expect(token.claims["tfp"]?.string == "b2c_1_sign_in")
        #expect(token.claims["scp"] == nil)
        #expect(token.claims["oid"]?.string == "a11ce000-0000-4000-8000-000000000001")
    }

    @Test("Policy, scope, times and claims are as requested")
    func specification() async throws {
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

    @Test("JSON is the whole response, and the scope openid alone gives an ID token")
    func reply() async throws {
        let reply = try await mock.get(
            "/_mock/token?user=alice&scope=openid%20tasks.read", ["Accept": "application/json"]
        ).json()
        #expect(reply["access_token"] != nil && reply["id_token"] != nil && reply["expires_in"]?.integer == 3600)
        let identity = try await mock.issue("user=alice&scope=openid")
        #expect(identity.claims["auth_time"]?.integer == TestAuthority.now)
    }

    @Test(
        "A request for a token that cannot be issued is refused with the reason",
        arguments: [
            "", "?user=carol", "?user=alice&policy=b2c_1_x", "?user=alice&bad=perfect", "?user=alice&exp=soon",
            "?user=alice&expires=1h", "?user=alice&scope=x", "?user=alice&client=x", "?user=alice&claim=x",
            "?user=alice&exp=-9223372036854775808",
        ])
    func mistakes(query: String) async throws {
        let response = try await mock.get("/_mock/token\(query)")
        #expect(response.status == 400)
        #expect(response.text.utf8.count > 20)
    }

    @Test("The list of bad tokens has every documented name, with the expected response")
    func catalogue() async throws {
        let names =
            """
            expired not-yet-valid no-exp wrong-aud aud-array wrong-iss iss-without-slash wrong-tenant wrong-policy \
            acr-only no-policy wrong-scp no-scp id-token unknown-kid no-kid unpublished-key retired-key bad-signature \
            truncated alg-none hs256-with-public-key rs512 typ-other crit-header huge not-json alg-none-mixed-case \
            empty-signature hs256-empty-secret kid-path kid-sql jwk-header jku-header x5u-header x5c-header \
            other-key-same-kid ps256 es256-own-key es256-zero-signature nested encrypted many-dots other-claims \
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
                    "name", "status", "code", "statusWithScopes", "codeWithScopes", "words", "danger", "forbiddenBy",
                ])
        }
    }

    @Test("The published holes of validators are listed with bad tokens that exist")
    func knownHoles() throws {
        let document = String(decoding: try TestFile("../../docs/token-validation.md").bytes(), as: UTF8.self)
        let rows = document.split(separator: "\n").filter {
            $0.hasPrefix("| ") && ($0.contains("V-") || $0.contains("P-"))
        }
        #expect(rows.count >= 25)
        let named = rows.flatMap { row in
            row.split(separator: "|")[2].split(separator: "`").enumerated().filter { $0.offset % 2 == 1 }.map(\.element)
        }.filter { !$0.hasSuffix(".json") }
        #expect(named.filter { BadToken(rawValue: String($0)) == nil } == [])
        let holes = BadToken.allCases.drop { $0 != .algNoneMixedCase }.prefix { $0 != .v1 }
        let missing = holes.map(\.rawValue).filter { name in !named.contains { $0 == name } }
        // Text is a wrong type of exp, which no hole of its own is known for.
        #expect(missing == ["exp-text"])
    }

    @Test("Each bad token has the defect of its name")
    func faults() async throws {
        let keys = try await mock.publicKeys()
        func forge(_ bad: BadToken) async throws -> Token {
            try await mock.issue("user=alice&bad=\(bad.rawValue)")
        }
        #expect(try await forge(.expired).claims["exp"]?.integer == TestAuthority.now - 3600)
        #expect(try await forge(.notYetValid).claims["nbf"]?.integer == TestAuthority.now + 3600)
        #expect(try await forge(.noExp).claims["exp"] == nil)
        #expect(try await forge(.audArray).claims["aud"]?.array?.count == 2)
        #expect(try await forge(.issWithoutSlash).claims["iss"]?.string?.hasSuffix("/v2.0") == true)
        let acr = try await forge(.acrOnly)
        #expect(acr.claims["tfp"] == nil && acr.claims["acr"]?.string == "b2c_1_sign_in")
        #expect(acr.claims["scp"]?.string == "tasks.read tasks.write" && acr.isSigned(by: keys))
        #expect(try await forge(.noKid).header["kid"] == nil)
        #expect(try await forge(.idToken).claims["auth_time"] != nil)
        #expect(try await keys[forge(.otherKeySameKid).header["kid"]?.string ?? ""] != nil)
        #expect(try await forge(.algNone).signature.isEmpty)
        #expect(try await forge(.hs256WithPublicKey).signature.count == 32)
        for bad in [
            BadToken.badSignature, .unpublishedKey, .otherKeySameKid, .retiredKey, .rs512, .unknownKid, .truncated,
        ] {
            #expect(try await !forge(bad).isSigned(by: keys), "\(bad.rawValue)")
        }
        try await checkHoles(keys, forge)
        let huge = try await mock.text("user=alice&bad=huge")
        #expect((8600...8800).contains(huge.utf8.count))
    }

    /// Checks the tokens that show published holes: which have a good signature, and what each offers.
    private func checkHoles(_ keys: [String: PublicKey], _ forge: (BadToken) async throws -> Token) async throws {
        for bad in [BadToken.issArray, .issPart, .noIss, .audEmpty, .noAud, .expText] {
            #expect(try await forge(bad).isSigned(by: keys), "\(bad.rawValue)")
        }
        let offers: [(BadToken, String)] = [
            (.jwkHeader, "jwk"), (.jkuHeader, "jku"), (.x5uHeader, "x5u"), (.x5cHeader, "x5c"),
            (.otherKeySameKid, "kid"),
        ]
        for (bad, member) in offers {
            let token = try await forge(bad)
            #expect(token.header[member] != nil && keys[token.header["kid"]?.string ?? ""] != nil)
            #expect(!token.isSigned(by: keys) && token.signature.count == 256, "\(bad.rawValue)")
        }
        for (bad, algorithm, count) in [
            (.algNoneMixedCase, "nOnE", 0), (.emptySignature, "RS256", 0), (.hs256EmptySecret, "HS256", 32),
            (.kidPath, "HS256", 32), (.kidSQL, "HS256", 32), (.ps256, "PS256", 256), (.es256OwnKey, "ES256", 64),
            (.es256ZeroSignature, "ES256", 64), (.otherClaims, "RS256", 256),
        ] as [(BadToken, String, Int)] {
            let token = try await forge(bad)
            #expect(token.header["alg"]?.string == algorithm && token.signature.count == count, "\(bad.rawValue)")
            #expect(!token.isSigned(by: keys))
        }
        func text(_ bad: BadToken) async throws -> [String] {
            try await mock.text("user=alice&bad=\(bad.rawValue)").split(
                separator: ".", omittingEmptySubsequences: false
            ).map(String.init)
        }
        #expect(try await text(.encrypted).count == 5)
        #expect(try await text(.manyDots).count == 8001)
        let key = try #require(keys.values.first)
        // These are signed by the key, so nothing but what their names say is wrong with them.
        for (bad, part, mark) in [
            (.nested, 1, "eyJ"), (.duplicateClaim, 1, "{\"oid\":\"0000"), (.duplicateAlg, 0, "{\"alg\":\"none\","),
        ] as [(BadToken, Int, String)] {
            let parts = try await text(bad)
            let (signature, input) = (Token.decode(parts[2]), Array("\(parts[0]).\(parts[1])".utf8))
            #expect(key.verifies(signature: signature, of: input), "\(bad.rawValue)")
            #expect(String(decoding: Token.decode(parts[part]), as: UTF8.self).hasPrefix(mark), "\(bad.rawValue)")
        }
    }
}

@Suite("Keys rotate on request", .timeLimit(.minutes(15)))
struct KeyControlTests {
    let mock = TestAuthority()

    private func take(_ step: String) async throws -> [String] {
        let keys = try await mock.ask(.post, "/_mock/keys", body: "{\"do\":\"\(step)\"}").json()["keys"]?.array
        return (keys ?? []).compactMap { $0.object?["state"]?.string }
    }

    private func signer() async throws -> String {
        try await mock.issue("user=alice").header["kid"]?.string ?? ""
    }

    @Test("Keys are published, activated and retired in the steps of real services")
    func steps() async throws {
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

    @Test("The answer to GET gives each key its earlier state again when it is put")
    func restoration() async throws {
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

    @Test("An unknown step is refused", arguments: ["{}", "{\"do\":\"dance\"}", "rotate", ""])
    func mistakes(body: String) async throws {
        #expect(try await mock.ask(.post, "/_mock/keys", body: body).status == 400)
    }
}
