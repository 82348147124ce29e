import Basics
import HTTP
@testable import MockAuthority
import Support
import Testing

@Suite("Behind a proxy the mock names the address that its clients reach")
struct PublicAddressTests {
    private static let tenant = "/contoso.onmicrosoft.com/b2c_1_sign_in"
    private static let document = "\(tenant)/\(MetadataTests.document)"
    private static let openDocument = "/4f5d1a2b-93c6-4e87-a1b0-2c3d4e5f6a7b/\(MetadataTests.document)"

    private static func mock(
        publicOrigin: String? = nil, proxies: [String] = [], remoteControl: Bool = false
    ) -> TestAuthority {
        var configuration = Configuration.standard(issuerBase: publicOrigin ?? "http://127.0.0.1:3001")
        configuration.publicOrigin = publicOrigin
        configuration.trustedProxies = proxies.compactMap { IPAddressRange($0) }
        configuration.moreHostNames = ["auth.example.com"]
        configuration.behaviour.remoteControl = remoteControl
        return TestAuthority(configuration)
    }

    @Test(arguments: ["127.0.0.1:3001", "localhost:3001", "tunnel.example.com", "auth.example.com"])
    func `Every address begins with the public one, whatever name was asked for`(host: String) async throws {
        let mock = Self.mock(publicOrigin: "https://tunnel.example.com")
        for target in [Self.document, Self.openDocument] {
            let metadata = try await mock.ask(.get, target, host: host).json()
            for name in ["authorization_endpoint", "token_endpoint", "jwks_uri", "end_session_endpoint"] {
                #expect(metadata.text(name).hasPrefix("https://tunnel.example.com/"), "\(name)")
            }
        }
        let issuer = try await mock.ask(.get, Self.document, host: host).json().text("issuer")
        #expect(issuer == "https://tunnel.example.com/775527ff-9a37-4307-8b3d-cc311f58d925/v2.0/")
        let page = try await mock.ask(.get, "\(Self.tenant)/oauth2/v2.0/authorize?\(CodeFlowTests.query)", host: host)
        #expect(page.status == 200 && !page.text.contains("http://"))
        #expect(page.text.contains("https://tunnel.example.com/static/"))
        #expect(page.headers.values("Set-Cookie").contains { $0.contains("; Secure") })
    }

    @Test(
        "The fields of a trusted proxy name the address, and those of others do not",
        arguments: [
            (["X-Forwarded-Proto": "https"], "https://localhost:3001"),
            (["X-Forwarded-Proto": "HTTPS", "X-Forwarded-Host": "auth.example.com"], "https://auth.example.com"),
            (["X-Forwarded-Proto": "https, http"], "https://localhost:3001"),
            (["X-Forwarded-Host": "auth.example.com:8443"], "http://auth.example.com:8443"),
            (
                ["Forwarded": "for=192.0.2.7;proto=https;host=auth.example.com, for=10.0.0.1"],
                "https://auth.example.com"
            ),
            (["Forwarded": "for=192.0.2.7", "X-Forwarded-Proto": "https"], "https://localhost:3001"),
            (["X-Forwarded-Proto": "ftp", "X-Forwarded-Host": "a b"], "http://localhost:3001"),
            (["X-Forwarded-For": "192.0.2.7"], "http://localhost:3001"), ([:], "http://localhost:3001"),
        ] as [(HeaderFields, String)])
    func proxies(fields: HeaderFields, base: String) async throws {
        let mock = Self.mock(proxies: ["10.0.0.0/8"])
        for (peer, expected) in [("10.1.2.3", base), ("192.0.2.7", "http://localhost:3001")] {
            let answer = try await mock.ask(.get, Self.document, headers: fields, peer: peer, host: "localhost:3001")
            #expect(try answer.json().text("jwks_uri") == "\(expected)\(Self.tenant)/discovery/v2.0/keys", "\(peer)")
        }
    }

    @Test func `A trusted proxy does not open the mock to a name that others can have (DNS rebinding)`() async throws {
        let mock = Self.mock(proxies: ["127.0.0.1"])
        for (host, forwarded) in [("evil.example:3001", "localhost"), ("localhost:3001", "evil.example")] {
            let fields: HeaderFields = ["X-Forwarded-Host": forwarded]
            let answer = try await mock.ask(.get, Self.document, headers: fields, host: host)
            #expect(answer.status == 403 && answer.text.contains("--public-url"), "\(host)")
        }
    }

    @Test(
        arguments: [
            (["X-Forwarded-For": "192.0.2.7"], "localhost:3001"), (["Forwarded": "for=unknown"], "localhost:3001"),
            (["X-Forwarded-Proto": "https"], "localhost:3001"), (["X-Forwarded-Host": "x.test"], "localhost:3001"),
            (["Via": "1.1 tunnel"], "localhost:3001"), ([:], "tunnel.example.com"),
        ] as [(HeaderFields, String)])
    func `Whoever comes through a proxy may not use the controls, unless everybody may`(
        fields: HeaderFields, host: String
    ) async throws {
        let url = "https://tunnel.example.com"
        let token = "/_mock/token?user=alice"
        let refused = try await Self.mock(publicOrigin: url).ask(.get, token, headers: fields, host: host)
        #expect(refused.status == 403 && refused.text.contains("--allow-remote"))
        let open = Self.mock(publicOrigin: url, remoteControl: true)
        #expect(try await open.ask(.get, token, headers: fields, host: host).status == 200)
    }

    @Test func `The page for developers works at the loopback and at the public address`() async throws {
        let mock = Self.mock(publicOrigin: "https://tunnel.example.com", remoteControl: true)
        let answers = [
            ("http://localhost:3001", "localhost:3001", 200), ("https://tunnel.example.com", "127.0.0.1:3001", 200),
            ("https://evil.example", "localhost:3001", 403),
        ]
        for (origin, host, status) in answers {
            let answer = try await mock.ask(.post, "/_mock/reset", headers: ["Origin": origin], host: host)
            #expect(answer.status.rawValue == status, "\(origin)")
        }
    }
}
