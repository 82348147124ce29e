import Basics
import HTTP
import JSON
@testable import MockAuthority
import OpenSSL
import Support
import Testing

/// What a client signs in place of sending a secret, as MSAL and azidentity do it.
struct SignedAssertion: Sendable {
    static let key = SharedKeys.all[6]
    /// The certificate of the key, the issuing one and the root, in PEM.
    private static let chain: [String] = {
        let (maker, keys) = (CertificateMaker(now: TestAuthority.now), SharedKeys.all)
        do {
            let root = (key: keys[4], certificate: try maker.authority(keys[4], name: "root"))
            let issuing = (key: keys[5], certificate: try maker.server(keys[5], names: ["issuing"], issuer: root))
            return [try maker.server(key, names: ["client"], issuer: issuing), issuing.certificate, root.certificate]
        } catch { return [""] }
    }()
    static let certificate = chain[0]
    static let ders = chain.map { pem in
        Base64.decodeLenient(pem.split(separator: "\n").filter { !$0.hasPrefix("-----") }.joined()) ?? []
    }
    static let der = ders[0]
    static let client = Configuration.entra[0].applications.clients[1].id

    var header: JSONObject = [
        "alg": "PS256", "typ": "JWT", "x5t#S256": .string(Base64URL.encode(SHA256.digest(Self.der))),
    ]
    var claims: JSONObject = [
        "aud": .string("https://login.microsoftonline.com/\(Configuration.entra[0].tenant.id)/oauth2/v2.0/token"),
        "iss": .string(client), "sub": .string(client), "jti": "1", "nbf": .integer(TestAuthority.now),
        "exp": .integer(TestAuthority.now + 600),
    ]
    var signer = Self.key

    func text() throws -> String {
        let input = "\(Base64URL.encode(header.bytes)).\(Base64URL.encode(claims.bytes))"
        let algorithm: SignatureAlgorithm = header["alg"] == "PS256" ? .ps256 : .rs256
        return "\(input).\(Base64URL.encode(try signer.sign(Array(input.utf8), as: algorithm)))"
    }

    func with(_ change: (inout SignedAssertion) -> Void) -> SignedAssertion {
        var changed = self
        change(&changed)
        return changed
    }
}

@Suite("Clients authenticate by certificates and by tokens of other issuers (RFC 7523)")
struct ClientAssertionTests {
    private static let parameters =
        "&grant_type=client_credentials&scope=openid+profile+offline_access+api://\(Configuration.entra[0].applications.resources[0].audience)/.default"

    private func mock(_ change: (inout Client) -> Void) -> TestAuthority {
        var all = Configuration.standard()
        all.entraTenants[1].applications.clients[1].secret = nil
        change(&all.entraTenants[1].applications.clients[1])
        all.fetch = { url in
            switch url {
            case "https://token.example/.well-known/openid-configuration":
                Array(#"{"jwks_uri":"https://token.example/keys"}"#.utf8)
            case "https://token.example/keys":
                JSONValue.object(["keys": [TokenSigningKey(SignedAssertion.key, notBefore: 0, name: "k").publicKey]])
                    .serialized()
            default: nil
            }
        }
        return TestAuthority(all)
    }

    private func answer(_ mock: TestAuthority, _ assertion: String, client: String? = SignedAssertion.client)
        async throws -> Response
    {
        let body =
            (client.map { "client_id=\($0)&" } ?? "") + "client_assertion_type=\(ClientAssertion.type)"
            + "&client_assertion=\(assertion)\(Self.parameters)"
        return try await mock.ask(.post, "/\(Configuration.entra[0].tenant.id)/oauth2/v2.0/token", body: body)
    }

    private func number(_ mock: TestAuthority, _ assertion: SignedAssertion) async throws -> Int64 {
        let answer = try await answer(mock, assertion.text())
        let body = try answer.json()
        #expect(answer.status == 200 || body["error"] == "invalid_client" && answer.status == 401, "\(answer.text)")
        return body["error_codes"]?.array?.first?.integer ?? 0
    }

    private static let sha1 = JSONValue.string(Base64URL.encode(SHA1.digest(SignedAssertion.der)))
    private static let good: [SignedAssertion] = [
        // MSAL of today, MSAL before 2024, and azidentity with its whole chain, longer than the header of an access token.
        SignedAssertion(), SignedAssertion().with { $0.header = ["alg": "RS256", "x5t": sha1] },
        SignedAssertion().with { $0.header["x5c"] = .array(SignedAssertion.ders.map { .string(Base64.encode($0)) }) },
        SignedAssertion().with { $0.claims["exp"] = .real(Double(TestAuthority.now) + 600.5) },
        // MSAL for Python pads the hash.
        SignedAssertion().with { $0.header = ["alg": "RS256", "x5t": .string((sha1.string ?? "") + "=")] },
        SignedAssertion().with { $0.claims["aud"] = "https://localhost:8443/common/oauth2/v2.0/token" },
        SignedAssertion().with { $0.claims["aud"] = [$0.claims["aud"] ?? .null] },
    ]

    @Test("MSAL, azidentity, azure-identity: a token for an assertion of a registered certificate", arguments: good)
    func certificate(assertion: SignedAssertion) async throws {
        let mock = mock { $0.certificates = [ClientCertificate(SignedAssertion.certificate)].compactMap(\.self) }
        let reply = try await answer(mock, assertion.text())
        #expect(try reply.status == 200 && reply.json().token("access_token").claims["azpacr"] == "2", "\(reply.text)")
        #expect(try await answer(mock, assertion.text(), client: nil).status == 200)
    }

    @Test("MSAL.NET: a thumbprint is enough where the client sends the certificate")
    func thumbprint() async throws {
        var text: [UInt8] = []
        for byte in SHA1.digest(SignedAssertion.der) { text.append(hexadecimal: byte, .upper) }
        let mock = mock {
            $0.certificates = [ClientCertificate(String(decoding: text, as: UTF8.self))].compactMap(\.self)
        }
        let whole = SignedAssertion().with {
            $0.header = ["alg": "RS256", "x5t": Self.sha1, "x5c": [.string(Base64.encode(SignedAssertion.der))]]
        }
        #expect(try await number(mock, whole) == 0)
        #expect(try await number(mock, whole.with { $0.header["x5c"] = nil }) == 700_027)
        #expect(try await number(mock, whole.with { $0.signer = SharedKeys.all[5] }) == 700_027)
    }

    private static let bad: [(String, Int64, @Sendable (inout SignedAssertion) -> Void)] = [
        ("an unknown certificate", 700_027, { $0.header["x5t#S256"] = "AAAA" }),
        ("no certificate", 700_027, { $0.header["x5t#S256"] = nil }),
        ("another key", 700_027, { $0.signer = SharedKeys.all[5] }),
        ("another algorithm than it says", 700_027, { $0.header["alg"] = "RS512" }),
        ("another subject", 700_021, { $0.claims["sub"] = "somebody" }),
        ("another audience", 700_023, { $0.claims["aud"] = "https://localhost:8443/other/oauth2/v2.0/token" }),
        ("an audience that is no endpoint", 700_023, { $0.claims["aud"] = "api://AzureADTokenExchange" }),
        ("an end long ago", 700_024, { $0.claims["exp"] = .integer(TestAuthority.now - 301) }),
        ("no end", 700_024, { $0.claims["exp"] = nil }),
        ("a beginning to come", 700_024, { $0.claims["nbf"] = .integer(TestAuthority.now + 301) }),
        ("another issuer", 700_211, { $0.claims["iss"] = "https://token.example" }),
    ]

    @Test("An assertion with one mistake has Entra's code", arguments: 0..<bad.count)
    func mistakes(index: Int) async throws {
        let mock = mock { $0.certificates = [ClientCertificate(SignedAssertion.certificate)].compactMap(\.self) }
        let (name, expected, change) = Self.bad[index]
        #expect(try await number(mock, SignedAssertion().with(change)) == expected, "\(name)")
    }

    @Test("azidentity, workload identity: a token of GitHub or Kubernetes, whose keys are fetched")
    func federation() async throws {
        let mock = mock { client in
            client.federatedCredentials = [FederatedCredential(issuer: "https://token.example", subject: "repo:a/b")]
        }
        let good = SignedAssertion().with {
            $0.header = ["alg": "RS256", "kid": "k"]
            $0.claims = [
                "iss": "https://token.example", "sub": "repo:a/b", "aud": "api://AzureADTokenExchange",
                "exp": .integer(TestAuthority.now + 600),
            ]
        }
        #expect(try await number(mock, good) == 0)
        #expect(try await number(mock, good.with { $0.claims["iss"] = "https://other.example" }) == 700_211)
        #expect(try await number(mock, good.with { $0.claims["sub"] = "repo:A/b" }) == 700_213)
        #expect(try await number(mock, good.with { $0.claims["aud"] = "api://other" }) == 700_212)
        #expect(try await number(mock, good.with { $0.signer = SharedKeys.all[5] }) == 700_027)
        #expect(try await number(mock, good.with { $0.header["kid"] = "unknown" }) == 7_000_272)
        #expect(try await number(mock, good.with { $0.claims["exp"] = .integer(TestAuthority.now - 301) }) == 700_024)
    }

    @Test func `A token of another tenant of the mock is an assertion, too`() async throws {
        let external = Configuration.externalID
        let mock = mock { client in
            client.federatedCredentials = [
                FederatedCredential(
                    issuer: EntraTenants.issuer, subject: "pod", audience: external.applications.resources[0].audience)
            ]
        }
        let query = "user=alice&profile=external-id&claim=sub=pod"
        #expect(try await answer(mock, mock.text(query)).status == 200)
        let forged = String(try await mock.text(query).dropLast(8)) + "AAAAAAAA"
        #expect(try await answer(mock, forged).json()["error_codes"] == [700_027])
    }

    @Test func `What is no assertion, or one of a public client, is refused; a lax mock takes what names the client`()
        async throws
    {
        let mock = mock { $0.certificates = [ClientCertificate(SignedAssertion.certificate)].compactMap(\.self) }
        #expect(try await answer(mock, "a.b.c").json()["error_codes"] == [50027])
        let open = Configuration.entra[0].applications.clients[0].id
        #expect(try await answer(mock, SignedAssertion().text(), client: open).json()["error_codes"] == [700_025])
        var configuration = Configuration.standard()
        configuration.behaviour.lax = true
        let foreign = SignedAssertion().with { $0.signer = SharedKeys.all[5] }
        #expect(try await answer(TestAuthority(configuration), foreign.text(), client: nil).status == 200)
    }

    @Test(
        "The texts of a configuration are certificates, thumbprints or neither",
        arguments: [
            (SignedAssertion.certificate, true), (String(repeating: "aB", count: 20), true),
            (String(repeating: "0", count: 64), true), ("", false), ("0", false),
            (String(repeating: "x", count: 40), false),
            ("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----", false),
        ])
    func texts(text: String, isGood: Bool) throws {
        #expect((ClientCertificate(text) != nil) == isGood)
        let file = JSONValue.object(["clients": [["id": "c", "certificates": [.string(text)]]]]).serialized()
        #expect(((try? Configuration(parsing: file)) != nil) == isGood)
    }
}
