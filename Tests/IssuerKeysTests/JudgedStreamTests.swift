import Curl
import HTTP
import JSON
import Support
import TaskAPI
import Testing
import Tokens

@testable import IssuerKeys

/// Everything that a token is judged by, each changed under an open stream.
@Suite("A stream of changes ends as soon as its request would be refused, for the same reason (V-110)")
struct JudgedStreamTests {
    struct Change: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// The code of the problem that a request gets afterwards.
        let code: String
        var provider = TestProvider.b2c
        let apply: @Sendable (Bench) -> Void
    }

    private static let other = published(SigningKey.other, kid: "another")

    /// Publishes keys, which are fetched at once.
    private static func publish(_ keys: [JSONValue], of provider: TestProvider = .b2c) -> @Sendable (Bench) -> Void {
        { bench in
            provider.publish(keys, on: bench.provider)
            bench.verifier.refreshNow()
            bench.refresh()
        }
    }

    private static func provider(_ base: TestProvider, _ change: (inout TestProvider) -> Void) -> TestProvider {
        var provider = base
        change(&provider)
        return provider
    }

    private static let reset = policy("B2C_1_reset")

    static let changes = [
        Change(testDescription: "the operator distrusts the key", code: "token.invalid") {
            $0.verifier.distrust([TestClaims.keyIdentifier])
        },
        Change(testDescription: "the provider withdraws the key", code: "token.invalid", apply: publish([other])),
        Change(
            testDescription: "the provider replaces the key under its name", code: "token.invalid",
            apply: publish([other, published(SigningKey.other)])),
        Change(
            testDescription: "the provider is another issuer", code: "token.invalid",
            apply: publish(
                [other, published(SigningKey.shared)],
                of: provider(.b2c) { $0.issuer = "https://contoso.b2clogin.com/\(TestProvider.otherTenant)/v2.0/" })),
        Change(testDescription: "the keys are too old", code: "keys.unavailable") { bench in
            bench.provider.fail(.status(500))
            bench.time.advance(seconds: 1200)
        },
        Change(
            testDescription: "the keys of the policy are too old", code: "keys.unavailable",
            provider: provider(.b2c) { $0.source.documents.append(reset) }
        ) { bench in
            bench.provider.set(policy().metadataURL, .failure(.status(500)))
            bench.time.advance(seconds: 700)
            bench.verifier.refreshNow()
            bench.refresh()
            bench.time.advance(seconds: 500)
        },
        Change(
            testDescription: "the time of the source is over", code: "token.invalid",
            provider: provider(.external()) { $0.source.end = TestClaims.now + 100 }
        ) { $0.time.advance(seconds: 100) },
        Change(testDescription: "the token expires", code: "token.expired") { $0.time.advance(seconds: 3660) },
    ]

    /// A verifier with the key of a provider, and another one, and the API that asks it.
    private static func bench(_ provider: TestProvider, trust: Duration = .seconds(1200)) -> (Bench, TaskAPI) {
        let bench = Bench([provider]) { $0.timing.trust = trust }
        provider.publish([other, published(provider.key, kid: provider.keyIdentifier)], on: bench.provider)
        let loaded = bench.loaded()
        let configuration = TaskAPIConfiguration(store: MemoryTaskStore(), verifier: bench.verifier, time: bench.time)
        return (loaded, TaskAPI(configuration))
    }

    private func ask(_ target: String, _ token: String, accepting type: String, _ api: TaskAPI) async throws -> Response
    {
        let fields = [("Authorization", "Bearer \(token)"), ("Accept", type)]
        let head = RequestHead(
            method: .get, target: try RequestTarget(parsing: target, host: nil),
            headers: HeaderSection(fields.map { HeaderSection.Field(name: $0.0, value: $0.1) }))
        return await api.decide(on: head).answered()
    }

    private func opened(_ token: String, _ api: TaskAPI) async throws -> ResponseStream {
        let stream = try await ask("/api/tasks/changes", token, accepting: "text/event-stream", api).stream
        let opened = try #require(stream)
        #expect(opened.read().hasPrefix("event: changes\n"))
        return opened
    }

    @Test(arguments: changes) func end(change: Change) async throws {
        let isAboutTime = change.code == "token.expired"
        let (bench, api) = Self.bench(change.provider, trust: .seconds(isAboutTime ? 86_400 : 1200))
        let token = change.provider.token()
        let stream = try await opened(token, api)
        // A key more changes nothing for this token.
        bench.verifier.distrust(["unused"])
        for _ in 0..<2 { api.streams.check(comparing: false) }
        #expect(stream.read().isEmpty && !stream.isOver)
        change.apply(bench)
        let answer = try await ask("/api/tasks", token, accepting: "application/problem+json", api)
        #expect(try JSONValue(parsing: answer.body)["code"].string == change.code)
        api.streams.check(comparing: false)
        await eventually("the stream ends") { stream.hasContent }
        #expect(stream.read() == "event: end\ndata: {\"reason\":\"\(change.code)\"}\n\n" && stream.isOver)
    }

    @Test func `A token counts as long for a stream as for a request, with the clock skew (V-52)`() async throws {
        let (bench, api) = Self.bench(.b2c, trust: .seconds(86_400))
        let token = TestProvider.b2c.token()
        let early = try await opened(token, api)
        bench.time.advance(seconds: 3659)
        let late = try await opened(token, api)
        api.streams.check(comparing: false)
        #expect([early, late].allSatisfy { $0.read().isEmpty && !$0.isOver })
        bench.time.advance(seconds: 1)
        api.streams.check(comparing: false)
        #expect([early, late].allSatisfy { $0.read().contains("token.expired") })
    }

    @Test func `A stream whose key is unknown now waits for the provider as a request does (V-81)`() async throws {
        let bench = Bench.loaded()
        let api = TaskAPI(TaskAPIConfiguration(store: MemoryTaskStore(), verifier: bench.verifier, time: bench.time))
        let stream = try await opened(makeToken(), api)
        bench.provider.publish(bench.sources[0], [Self.other])
        bench.verifier.refreshNow()
        bench.refresh()
        api.streams.check(comparing: false)
        await eventually("the stream's token waits") { bench.verifier.status.waiters == 1 }
        #expect(!stream.hasContent)
        // The provider has the key again.
        bench.provider.publish(bench.sources[0], [Self.other, published(SigningKey.shared)])
        bench.refresh()
        await eventually("nothing waits") { bench.verifier.status.waiters == 0 }
        bench.provider.publish(bench.sources[0], [Self.other])
        bench.time.advance(seconds: 10)
        bench.verifier.refreshNow()
        bench.refresh()
        api.streams.check(comparing: false)
        await eventually("the stream's token waits") { bench.verifier.status.waiters == 1 }
        bench.refresh()
        await eventually("the stream ends") { stream.read().contains("token.invalid") }
    }
}
