import Basics
import Curl
import IssuerKeys
import JSON
import OpenSSL
import SQLiteStore
import Support
import Tasks
import Testing
import Tokens

@testable import TaskServer

/// Fetches from two providers, of which one answers and the other does not.
struct OneOfTwo: DocumentFetcher {
    func fetch(_ request: FetchRequest) throws(FetchError) -> FetchedDocument {
        let key = SigningKey.shared
        let good: [String: JSONValue] = [
            "https://a.example/.well-known/openid-configuration": [
                "issuer": "https://a.example", "jwks_uri": "https://a.example/keys",
            ],
            "https://a.example/keys": [
                "keys": [
                    [
                        "kid": "k", "kty": "RSA", "n": .string(Base64URL.encode(key.modulus)),
                        "e": .string(Base64URL.encode(key.exponent)),
                    ]
                ]
            ],
        ]
        guard let document = good[request.url] else { throw .status(500) }
        return FetchedDocument(body: document.serialized())
    }

    func cancel() {}
}

@Suite("What operators see of several token sources")
struct SourceStatusTests {
    private func source(_ name: String?, _ host: String) -> TokenSource {
        TokenSource(
            name: name,
            documents: [MetadataDocument(metadataURL: "https://\(host)/.well-known/openid-configuration")],
            rules: ClaimRules(audiences: ["a"]))
    }

    private func verifier(_ sources: TokenSource...) -> BearerVerifier {
        let verifier = BearerVerifier(IssuerKeysConfiguration(sources: sources), fetcher: OneOfTwo())
        verifier.loadOnce()
        return verifier
    }

    private func metrics(_ verifier: BearerVerifier) -> String {
        var text = PrometheusText()
        KeyMetrics(verifier.statuses).render(into: &text)
        return text.text
    }

    @Test func `P-18 The server is ready while one source serves, and says of each that does not why`() async {
        let one = verifier(source(nil, "a.example"), source("ext", "b.example"))
        #expect(await Readiness(one, MemoryTaskStore()).reason() == nil)
        let none = verifier(source("x", "b.example"), source("y", "c.example"))
        let reason = await Readiness(none, MemoryTaskStore()).reason() ?? ""
        #expect(reason.hasPrefix("x: no keys of the authority yet") && reason.contains("; y: no keys"))
        var closed = source(nil, "a.example")
        closed.end = 1
        #expect(await Readiness(verifier(closed), MemoryTaskStore()).reason() == "no source is open")
    }

    @Test
    func `P-18 Metrics of named sources carry the name, and those of the other have the series they always had`() {
        let text = metrics(verifier(source(nil, "a.example"), source("ext", "b.example")))
        for line in [
            #"tasks_keys_state{state="fresh"} 1"#, #"tasks_keys_state{source="ext",state="empty"} 1"#, "tasks_keys 1",
            #"tasks_keys{source="ext"} 0"#, #"tasks_key_loads_total{source="ext",outcome="failed"} 1"#,
        ] {
            #expect(text.split(separator: "\n").contains { $0 == line }, "\(line)")
        }
        #expect(!metrics(verifier(source(nil, "a.example"))).contains("source="))
    }
}

@Suite("Whether the server is ready") struct ReadinessTests {
    @Test func `However many ask at one moment, the store is asked once a second`() async throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteTaskStore.open(path: folder.file("tasks.db"))
        defer { store.close() }
        let source = TokenSource(
            documents: [MetadataDocument(metadataURL: "https://a.example/.well-known/openid-configuration")],
            rules: ClaimRules(audiences: ["a"]))
        let verifier = BearerVerifier(IssuerKeysConfiguration(sources: [source]), fetcher: OneOfTwo())
        verifier.loadOnce()
        let clock = ManualClock()
        let readiness = Readiness(verifier, store, time: clock)
        for second in 1...2 {
            let reasons = try await atOnce(0..<200) { _ in await readiness.reason() }
            #expect(reasons == Array(repeating: nil, count: 200))
            #expect(store.statistics.writes == second)
            clock.advance(seconds: 1)
        }
    }
}
