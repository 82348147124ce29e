import HTTP
import JSON
import TaskAPI
import Testing

@Suite("The metadata of the protected resource (RFC 9728)")
struct ProtectedResourceTests {
    private static let wellKnown = "/.well-known/oauth-protected-resource"

    /// The document at this target for a request with this `Host`; nil for 404.
    private func document(
        _ publicAddress: String?, isSecure: Bool = false, host: String = "evil.example", at target: String = wellKnown
    ) async throws -> JSONObject? {
        let api = TestedAPI(.inProcess) {
            $0.publicAddress = publicAddress
            $0.isSecure = isSecure
            $0.authorizationServers = { ["https://a.example/v2.0/", "https://b.example/v2.0"] }
            $0.scopes = ["https://a.example/tasks.read"]
        }
        let headers = [("Host", host), ("X-Forwarded-Proto", "https"), ("Forwarded", "host=evil.example;proto=https")]
        let answer = try await api.send("GET", target, headers)
        if answer.status == 404 { return nil }
        #expect(answer.headers["Content-Type"] == "application/json")
        return try JSONValue(parsing: answer.body).object
    }

    private func resource(_ publicAddress: String?, isSecure: Bool = false, host: String) async throws -> String? {
        try await document(publicAddress, isSecure: isSecure, host: host)?["resource"]?.string
    }

    @Test("The protected resource has the configured address, or one of this machine, and never a stranger's (V-121)")
    func address() async throws {
        #expect(
            try await resource("https://tasks.example.com", host: "evil.example")
                == "https://tasks.example.com/api/tasks")
        #expect(
            try await resource("https://example.com/todo", host: "127.0.0.1") == "https://example.com/todo/api/tasks")
        #expect(try await resource(nil, host: "localhost:3000") == "http://localhost:3000/api/tasks")
        #expect(try await resource(nil, isSecure: true, host: "[::1]:3000") == "https://[::1]:3000/api/tasks")
        for stranger in ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "127.0.0.1@evil", "a:x"] {
            #expect(try await resource(nil, host: stranger) == nil, "\(stranger)")
        }
    }

    @Test func `It lists the issuers of the open sources and the scopes to ask for (P-35)`() async throws {
        let document = try #require(try await document("https://tasks.example.com"))
        #expect(document["authorization_servers"] == ["https://a.example/v2.0/", "https://b.example/v2.0"])
        #expect(document["scopes_supported"] == ["https://a.example/tasks.read"])
        #expect(document["bearer_methods_supported"] == ["header"])
        let bare = TestedAPI(.inProcess) { $0.publicAddress = "https://tasks.example.com" }
        let text = try await bare.send("GET", Self.wellKnown).text
        #expect(!text.contains("authorization_servers") && !text.contains("scopes_supported"), "\(text)")
    }

    @Test func `It is at the root and at the path of the resource, and nowhere else (P-35)`() async throws {
        for (address, path) in [
            ("https://example.com", ""), ("https://example.com", "/api/tasks"), ("https://example.com/todo", ""),
            ("https://example.com/todo", "/api/tasks"), ("https://example.com/todo", "/todo/api/tasks"),
        ] {
            let document = try await document(address, at: Self.wellKnown + path)
            #expect(document?["resource"]?.string == "\(address)/api/tasks", "\(address) \(path)")
        }
        for path in ["/api", "/api/tasks/7", "/tasks", "/todo/api/tasks", "/x"] {
            #expect(try await document("https://example.com", at: Self.wellKnown + path) == nil, "\(path)")
        }
        #expect(try await document(nil, at: Self.wellKnown + "/api/tasks") == nil)
        #expect(try await document(nil, host: "localhost", at: Self.wellKnown + "/api/tasks") != nil)
    }

    @Test
    func `Every 401 leads to a document of its own resource, where the address is configured (P-35)`() async throws {
        for (address, metadata) in [
            ("https://example.com", "https://example.com\(Self.wellKnown)/api/tasks"),
            ("https://example.com/todo", "https://example.com\(Self.wellKnown)/todo/api/tasks"),
        ] {
            let api = TestedAPI(.inProcess) { $0.publicAddress = address }
            for token in [nil, "outdated", "forged"] {
                let answer = try await api.send("GET", "/api/tasks", as: token)
                let challenge = try #require(answer.headers["WWW-Authenticate"])
                #expect(answer.status == 401 && challenge.hasPrefix("Bearer realm=\"tasks\""), "\(challenge)")
                #expect(challenge.hasSuffix(", resource_metadata=\"\(metadata)\""), "\(challenge)")
            }
            let path = String(metadata.dropFirst("https://example.com".count))
            #expect(try await document(address, at: path)?["resource"]?.string == "\(address)/api/tasks")
        }
        let api = TestedAPI(.inProcess)
        let old = try await api.send("GET", "/api/tasks", [("Host", "localhost")])
        #expect(old.headers["WWW-Authenticate"] == "Bearer realm=\"tasks\"", "as the old clients know it")
    }
}
