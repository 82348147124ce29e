import Basics
import Curl
@testable import IssuerKeys
import JSON
import OpenSSL
import Platform
import Support
import Synchronization
import Testing
import Tokens

/// A provider without network: documents by address, and a list of the addresses that were fetched.
final class FakeProvider: DocumentFetcher {
    private struct State {
        var documents: [String: Result<FetchedDocument, FetchError>] = [:]
        var asked: [String] = []
        var running = 0
        var mostRunning = 0
        var isHeld = false
        var heldURL: String?
        var isCancelled = false
    }

    private let state = Mutex(State())

    /// Whether every fetch blocks, until this is false or the fetches are cancelled.
    var isHeld: Bool {
        get { state.withLock { $0.isHeld } }
        set { state.withLock { $0.isHeld = newValue } }
    }

    /// Blocks fetches of this address until another is given.
    func hold(_ url: String?) { state.withLock { $0.heldURL = url } }

    var asked: [String] { state.withLock { $0.asked } }
    var isRunning: Bool { state.withLock { $0.running > 0 } }
    var mostRunning: Int { state.withLock { $0.mostRunning } }

    func forget() { state.withLock { $0.asked = [] } }

    func set(_ url: String, _ result: Result<FetchedDocument, FetchError>) {
        state.withLock { $0.documents[url] = result }
    }

    func set(_ url: String, _ json: JSONValue, maxAge: Int? = nil) {
        set(url, .success(FetchedDocument(body: json.serialized(), maxAge: maxAge)))
    }

    /// Publishes a policy with these keys.
    func publish(
        _ source: MetadataDocument, _ keys: [JSONValue], issuer: String = TestClaims.issuer, maxAge: Int? = nil
    ) {
        let keysURL = source.metadataURL + "/keys"
        set(source.metadataURL, ["issuer": .string(issuer), "jwks_uri": .string(keysURL)], maxAge: maxAge)
        set(keysURL, ["keys": .array(keys)])
    }

    /// Everything fails from now on.
    func fail(_ error: FetchError) {
        state.withLock { state in
            for url in state.documents.keys { state.documents[url] = .failure(error) }
        }
    }

    func fetch(_ request: FetchRequest) throws(FetchError) -> FetchedDocument {
        state.withLock { state in
            state.asked.append(request.url)
            state.running += 1
            state.mostRunning = max(state.mostRunning, state.running)
        }
        defer { state.withLock { $0.running -= 1 } }
        // The wait is longer than usual, because the test that releases the fetch may itself wait for a thread.
        eventuallyBlocking("a held fetch continues", within: .seconds(600)) {
            state.withLock { $0.isCancelled || !$0.isHeld && $0.heldURL != request.url }
        }
        let result = state.withLock { $0.isCancelled ? .failure(.cancelled) : $0.documents[request.url] }
        return try (result ?? .failure(.status(404))).get()
    }

    func cancel() { state.withLock { $0.isCancelled = true } }
}

/// The published form of a key.
func published(_ key: PrivateKey, kid: String = TestClaims.keyIdentifier) -> JSONValue {
    let members = key.numbers.members(for: key.algorithm).with("kid", .string(kid)).with("use", "sig")
    // B2C's keys name no algorithm.
    return .object(key.algorithm == .rs256 ? members : members.with("alg", .string(key.algorithm.rawValue)))
}

extension IssuerKeysConfiguration {
    /// One source without name.
    init(documents: [MetadataDocument], rules: ClaimRules) {
        self.init(sources: [TokenSource(documents: documents, rules: rules)])
    }
}

/// A policy of the tests' tenant.
func policy(_ name: String = TestClaims.policy) -> MetadataDocument {
    MetadataDocument(authority: "https://contoso.b2clogin.com/contoso.onmicrosoft.com", policy: name)
}

/// A verifier over a fake provider, with a clock that the test moves and no threads unless it starts them.
struct Bench {
    let time = ManualClock(wallMilliseconds: TestClaims.now * 1000)
    let provider = FakeProvider()
    let events = Recorded<KeyEvent>()
    let verifier: BearerVerifier
    /// The documents of the first source.
    let sources: [MetadataDocument]

    init(_ configuration: IssuerKeysConfiguration, _ change: (inout IssuerKeysConfiguration) -> Void) {
        var configuration = configuration
        // Only the machine's clock ends a wait, however slow the machine is.
        configuration.timing.patience = .seconds(600)
        change(&configuration)
        sources = configuration.documents
        let events = events
        verifier = BearerVerifier(
            configuration, time: time, fetcher: provider, chance: { 0.5 }, observer: { events.append($0) })
    }

    /// A verifier of one source without a name: a token of an unknown key waits, and the test does the threads' work.
    init(
        _ sources: [MetadataDocument] = [policy()], keys: [JSONValue]? = nil,
        _ change: (inout IssuerKeysConfiguration) -> Void = { _ in }
    ) {
        self.init(IssuerKeysConfiguration(documents: sources, rules: TestClaims.rules), change)
        for source in sources { provider.publish(source, keys ?? [published(SigningKey.shared)]) }
        verifier.keys.allowWaits()
    }

    /// A verifier that has loaded its keys.
    static func loaded(
        _ sources: [MetadataDocument] = [policy()], _ change: (inout IssuerKeysConfiguration) -> Void = { _ in }
    ) -> Bench {
        Bench(sources, change).loaded()
    }

    /// The same after its keys are loaded.
    func loaded() -> Bench {
        verifier.loadOnce()
        provider.forget()
        return self
    }

    /// Does what the thread of a source does when it wakes; when it would look again, in seconds from now.
    @discardableResult
    func refresh(_ source: Int = 0) -> Double {
        Double(verifier.caches[source].refreshIfDue() - time.now) / 1e9
    }

    /// Why a token is refused; nothing for a good one.
    func refusal(_ token: String) async -> TokenRefusal? {
        await verifier.refusal(of: token)
    }

    /// The same with a refresh as soon as the token waits for one, as the real thread does.
    func refusalDuringRefresh(_ token: String, of source: Int = 0) async -> TokenRefusal? {
        let isDone = Flag()
        async let refusal = {
            defer { isDone.set() }
            return await self.refusal(token)
        }()
        // A token whose key was replaced by none waits once more, for the key that is now unknown.
        repeat {
            await eventually("the token waits, or has its result") {
                verifier.statuses[source].keys.waiters > 0 || isDone.isSet
            }
            refresh(source)
        } while !isDone.isSet
        return await refusal
    }
}

extension BearerVerifier {
    /// Whom a token represents, as the API asks: first the cache.
    func principal(of token: String) async throws(TokenRefusal) -> Principal {
        if let principal = cachedPrincipal(of: ArraySlice(token.utf8)) { return principal }
        return try await beginVerifying(token).principal()
    }

    /// Why a token is refused, as the API asks; nothing for a good one.
    func refusal(of token: String) async -> TokenRefusal? {
        await thrown { () async throws(TokenRefusal) in _ = try await principal(of: token) }
    }
}

// Most tests have one source without name.
extension BearerVerifier {
    /// The keys of the first source.
    var keys: KeyCache { caches[0] }
    var status: KeyStatus { statuses[0].keys }
}

extension IssuerKeysConfiguration {
    /// The rules of the first source.
    var rules: ClaimRules {
        get { sources[0].rules }
        set { sources[0].rules = newValue }
    }

    /// The documents of the first source.
    var documents: [MetadataDocument] {
        get { sources[0].documents }
        set { sources[0].documents = newValue }
    }
}
