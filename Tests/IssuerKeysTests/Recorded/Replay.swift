import Basics
@testable import IssuerKeys
import JSON
import Support
import Testing
import Tokens

/// A provider whose recorded history is replayed, without threads, by the clock of the test.
struct Replay {
    let bench: Bench
    let history: RecordedHistory
    /// The versions that come after the one that is published.
    private var coming: ArraySlice<RecordedHistory.Version>
    /// What is published now, and what the server fetched last.
    private(set) var published: RecordedHistory.Version
    private(set) var loaded: RecordedHistory.Version?

    /// The first version of the history of this name is published, and nothing is loaded.
    ///
    /// - Parameters:
    ///   - name: The name of the recorded history.
    ///   - refresh: The time between refreshes, if it is not to be the usual one: months are long.
    /// - Throws: An error if there is no such history.
    init(_ name: String, refresh: Duration? = nil) throws {
        history = try RecordedHistory.named(name)
        coming = history.versions.dropFirst()
        published = try #require(history.versions.first)
        let document = MetadataDocument(
            metadataURL: history.provider.address, pinnedIssuer: history.provider.metadata["issuer"].string)
        bench = Bench([document]) {
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

    /// Lets time pass until the next version is published, with all refreshes that become due.
    ///
    /// - Returns: false after the last.
    mutating func publishNext() -> Bool {
        guard let next = coming.popFirst() else { return false }
        wait(until: next.time)
        publish(next)
        return true
    }

    /// Lets time pass until this second since 1970, with all versions and refreshes that are due by then.
    mutating func advance(to time: Int64) {
        while let next = coming.first, next.time <= time, publishNext() {}
        wait(until: time)
    }

    private mutating func wait(until time: Int64) {
        while true {
            let rest = Double(time * 1000 - bench.time.wallMilliseconds) / 1000
            let pause = refresh()
            guard pause < rest else { return bench.time.advance(seconds: max(0, rest)) }
            bench.time.advance(seconds: pause)
        }
    }

    /// Payload and signature of every token.
    private static let rest =
        Base64URL.encode(JSONValue.object(TestClaims.good).serialized()) + "."
        + Base64URL.encode([UInt8](repeating: 1, count: 256))

    var status: KeyStatus { bench.verifier.status }

    /// The keys that serve.
    var serving: [String] { status.keyIdentifiers.sorted() }

    /// Why a token that names this key is refused: as no test can sign as the provider does, its signature fits no key.
    func refusal(of identifier: String) async -> TokenRefusal? {
        let header = JSONValue.object(TestClaims.header.with("kid", .string(identifier))).serialized()
        let token = "\(Base64URL.encode(header)).\(Self.rest)"
        return await bench.refusalDuringRefresh(token)
    }
}
