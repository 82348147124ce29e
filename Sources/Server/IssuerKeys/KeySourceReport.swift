import Curl
import Tokens

/// The result of one attempt to load a key source, for `task-server check`.
package struct KeySourceReport: Sendable, Equatable {
    /// The name of the key source: its policy, or the address of its metadata.
    package let source: String
    /// The policy that tokens must name; nothing for a provider without policies.
    package let policy: String?
    /// The issuer that the metadata names, if the load succeeded.
    package let issuer: String?
    /// `kid` of the keys that may be used; not escaped.
    package let keyIdentifiers: [String]
    /// Published keys that are not used, and why.
    package let skipped: [SkippedKey]
    /// What is wrong and what to do about it; nothing if the load succeeded.
    package let problem: String?
}

extension IssuerKeysConfiguration {
    /// Loads every key source once, on this thread.
    package func check(fetcher: any DocumentFetcher = HTTPFetcher()) -> [KeySourceReport] {
        var loader = KeySourceLoader(fetcher: fetcher, distrusted: distrustedKeys)
        var trusted = [String?](repeating: nil, count: keySources.count)
        return keySources.enumerated().map { index, source in
            do throws(LoadFailure) {
                let keys = try loader.load(source, withMetadata: true, known: nil).keys
                try checkTenant(of: keys.issuer, source: index, trusted: trusted)
                trusted[index] = keys.issuer
                return KeySourceReport(
                    source: source.name, policy: source.policy, issuer: keys.issuer,
                    keyIdentifiers: keys.keys.map(\.published.keyIdentifier), skipped: keys.skipped, problem: nil)
            } catch {
                return KeySourceReport(
                    source: source.name, policy: source.policy, issuer: nil,
                    keyIdentifiers: [], skipped: [], problem: error.message)
            }
        }
    }
}
