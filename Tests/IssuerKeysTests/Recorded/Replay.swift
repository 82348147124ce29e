@testable import IssuerKeys
import JSON
import Support
import Testing
import Tokens

/// A provider whose recorded history is replayed, without threads, by the clock of the test.
struct Replay {
    let bench: Bench
    let history: RecordedHistory
    /// What is published now, and what the server fetched last.
    private(set) var published: RecordedHistory.Version
    private(set) var loaded: RecordedHistory.Version?

    /// The moment of the first version, with nothing loaded.
    ///
    /// - Parameters:
    ///   - name: that of the recorded history.
    ///   - refresh: the time between refreshes, if it is not to be the usual: months are long.
    ///   - distrusted: key identifiers that are never to be trusted.
    /// - Throws: if there is no such history.
    init(_ name: String, refresh: Duration? = nil, distrusted: [String] = []) throws {
        history = try RecordedHistory.named(name)
        published = try #require(history.versions.first)
        let document = MetadataDocument(
            metadataURL: history.provider.address, pinnedIssuer: history.provider.metadata["issuer"].string)
        bench = Bench([document]) {
            $0.distrustedKeys = distrusted
            $0.sources[0].keyHosts = ["www.googleapis.com"]
            $0.sources[0].rules.tenants = AllowedTenants(listed: ["775527ff-9a37-4307-8b3d-cc311f58d925"])
            if let refresh { $0.timing.refresh = refresh }
        }
        bench.time.setWall(by: published.time - bench.time.wallMilliseconds / 1000)
        publish(published)
    }

    /// Publishes a version; when the server fetches it is another matter.
    mutating func publish(_ version: RecordedHistory.Version) {
        history.provider.publish(to: bench.provider, keys: version.keys)
        published = version
    }

    /// Refreshes if one is due; when to look again, in seconds.
    @discardableResult
    mutating func refresh() -> Double {
        let fetches = bench.provider.asked.count
        let pause = bench.refresh()
        if bench.provider.asked.count > fetches { loaded = published }
        return pause
    }

    /// Lets time pass until this second since 1970, with all refreshes that become due.
    mutating func advance(to time: Int64) {
        while true {
            let rest = Double(time * 1000 - bench.time.wallMilliseconds) / 1000
            let pause = refresh()
            guard pause < rest else { return bench.time.advance(seconds: max(0, rest)) }
            bench.time.advance(seconds: pause)
        }
    }

    var status: KeyStatus { bench.verifier.caches[0].status }

    /// The keys that serve.
    var serving: [String] { status.keyIdentifiers.sorted() }

    /// Why a token that names this key is refused: as no test can sign as the provider does, its signature fits no key.
    func refusal(of identifier: String) async -> TokenRefusal? {
        let token = makeToken(header: TestClaims.header.with("kid", .string(identifier)))
        return serving.contains(identifier)
            ? await bench.refusal(token) : await bench.refusalDuringRefresh(token)
    }
}
