import Curl
import HTTP
import IssuerKeys
import JSON
import HTTPServer
import Support
import Testing
import Tokens

/// A provider that listens on a socket, at an address that its metadata names.
private struct Provider: RequestHandler {
    let keys: JSONValue

    func decide(on head: RequestHead) -> Decision {
        let host = head.headers["Host"] ?? ""
        let document: JSONValue =
            switch "/" + head.target.path.joined(separator: "/") {
            case "/t/b2c_1_sign_in/v2.0/.well-known/openid-configuration":
                ["issuer": .string("http://\(host)/t/v2.0/"), "jwks_uri": .string("http://\(host)/keys")]
            case "/keys": ["keys": keys]
            default: .null
            }
        return .respond(Response(document == .null ? 404 : 200, body: document.serialized()))
    }
}

@Suite("Keys are fetched over HTTP", .timeLimit(.minutes(15)))
struct OverHTTPTests {
    @Test("A token is verified with keys that came over real sockets")
    func whole() async throws {
        let server = try HTTPServer(port: 0, handler: Provider(keys: [published(SigningKey.shared)]))
        defer { server.stop(patience: .zero) }
        let authority = "http://127.0.0.1:\(server.port)/t"
        let source = MetadataDocument(authority: authority, policy: "b2c_1_sign_in")
        let missing = MetadataDocument(authority: authority, policy: "b2c_1_missing")
        let configuration = IssuerKeysConfiguration(documents: [source, missing], rules: TestClaims.rules)

        let reports = configuration.check()
        #expect(reports[0].problem == nil && reports[0].contents?.keyIdentifiers == [TestClaims.keyIdentifier])
        #expect(reports[1].problem?.contains("no such tenant or policy") == true)

        let verifier = BearerVerifier(configuration, time: ManualClock(wallMilliseconds: TestClaims.now * 1000))
        try verifier.start()
        defer { verifier.stop() }
        await eventually("the keys are loaded") { verifier.status.counters.refreshes > 0 }
        let claims = TestClaims.good.with("iss", .string("\(authority)/v2.0/"))
        let principal = try await verifier.verify(makeToken(claims: claims))
        #expect(principal.owner == TestClaims.owner && principal.policy == "b2c_1_sign_in")
        #expect(verifier.status.isDegraded && verifier.status.state == .fresh)
    }
}
