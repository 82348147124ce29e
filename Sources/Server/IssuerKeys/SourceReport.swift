internal import Curl
internal import Tokens

/// What became of one try to load a source, for `task-server check`.
package struct SourceReport: Sendable, Equatable {
    /// The policy, or the address of the metadata.
    package let source: String
    /// The policy that tokens must be of; nothing for a provider without policies.
    package let policy: String?
    /// Where the metadata was looked for.
    package let metadataURL: String
    /// The issuer that the metadata names, if all went well.
    package let issuer: String?
    /// `kid` of the keys that may be used; not escaped.
    package let keyIdentifiers: [String]
    /// Published keys that are not used, and why.
    package let skipped: [SkippedKey]
    /// What is wrong and what to do about it; nothing if all is well.
    package let problem: String?
}

extension IssuerKeysConfiguration {
    /// Fetches metadata and keys of every source once, on this thread, and says what came of it.
    package func check(fetcher: any DocumentFetcher = HTTPFetcher()) -> [SourceReport] {
        var loader = SourceLoader(fetcher: fetcher, distrusted: distrustedKeys)
        var trusted = [String?](repeating: nil, count: sources.count)
        return sources.enumerated().map { index, source in
            do throws(LoadFailure) {
                let load = try loader.load(source, withMetadata: true, known: nil)
                try checkAgreement(of: load.source.issuer, source: index, with: trusted)
                trusted[index] = load.source.issuer
                return SourceReport(
                    source: source.name, policy: source.policy, metadataURL: source.metadataURL,
                    issuer: load.source.issuer,
                    keyIdentifiers: load.source.keys.map(\.published.keyIdentifier), skipped: load.source.skipped,
                    problem: nil)
            } catch {
                return SourceReport(
                    source: source.name, policy: source.policy, metadataURL: source.metadataURL, issuer: nil,
                    keyIdentifiers: [], skipped: [], problem: error.words)
            }
        }
    }
}
