public import Curl
internal import Tokens

/// What became of one try to load a source, for `task-server check`.
public struct SourceReport: Sendable, Equatable {
    /// The policy, or the address of the metadata.
    public let source: String
    /// Where the metadata was looked for.
    public let metadataURL: String
    /// The issuer that the metadata names, if all went well.
    public let issuer: String?
    /// `kid` of the keys that may be used; not escaped.
    public let keyIdentifiers: [String]
    /// Published keys that are not used, and why.
    public let skipped: [SkippedKey]
    /// What is wrong and what to do about it; nothing if all is well.
    public let problem: String?
}

extension IssuerKeysConfiguration {
    /// Fetches metadata and keys of every source once, on this thread, and says what came of it.
    public func check(fetcher: any DocumentFetcher = HTTPFetcher()) -> [SourceReport] {
        var loader = SourceLoader(fetcher: fetcher, distrusted: distrustedKeys)
        return sources.map { source in
            do throws(LoadFailure) {
                let load = try loader.load(source, withMetadata: true, known: nil)
                return SourceReport(
                    source: source.name, metadataURL: source.metadataURL, issuer: load.source.issuer,
                    keyIdentifiers: load.source.keys.map(\.published.keyIdentifier), skipped: load.source.skipped,
                    problem: nil)
            } catch {
                return SourceReport(
                    source: source.name, metadataURL: source.metadataURL, issuer: nil, keyIdentifiers: [],
                    skipped: [], problem: error.words)
            }
        }
    }
}
