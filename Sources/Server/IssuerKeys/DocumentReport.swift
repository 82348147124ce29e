package import Basics
import Curl
package import Tokens

/// The result of one attempt to load a metadata document, for `task-server check`.
package struct DocumentReport: Sendable, Equatable {
    /// The name of the token source, if it has one.
    package let source: String?
    /// The name of the document: its policy, or its address.
    package let document: String
    package let metadataURL: String
    /// The policy that tokens must name; nil for a provider without policies.
    package let policy: String?
    /// The contents of the document; nil if the load failed.
    package fileprivate(set) var contents: Contents?
    /// The problem and its remedy; nil if the load succeeded.
    package fileprivate(set) var problem: String?

    package struct Contents: Sendable, Equatable {
        /// The issuer that the metadata names, and the reason for which it is believed.
        package let issuer: String
        package let basis: IssuerBasis
        package let keySetURL: String
        /// The `kid` of each usable key, not escaped.
        package let keyIdentifiers: [String]
        /// The algorithm of each usable key, in the same order.
        package let algorithms: [SignatureAlgorithm]
        /// Published keys that are not used, with the reasons.
        package let skipped: [SkippedKey]
    }
}

extension IssuerKeysConfiguration {
    /// Loads every metadata document once, on this thread.
    package func check(fetcher: any DocumentFetcher = HTTPFetcher()) -> [DocumentReport] {
        let registry = SourceRegistry(self)
        return sources.indices.flatMap { check($0, registry, fetcher) }
    }

    private func check(
        _ index: Int, _ registry: SourceRegistry, _ fetcher: any DocumentFetcher
    ) -> [DocumentReport] {
        let source = sources[index]
        var loader = DocumentLoader(source: source, fetcher: fetcher, distrusted: distrustedKeys)
        var trusted = [String?](repeating: nil, count: source.documents.count)
        return source.documents.enumerated().map { position, document in
            var report = DocumentReport(
                source: source.name, document: document.name, metadataURL: document.metadataURL,
                policy: document.policy)
            do throws(LoadFailure) {
                let keys = try loader.load(document, withMetadata: true, known: nil).keys
                try source.checkTenant(of: keys.issuer, document: position, trusted: trusted)
                try registry.admit(keys.issuer, source: index, document: position)
                trusted[position] = keys.issuer
                report.contents = try contents(of: keys, source, document)
            } catch {
                report.problem = error.message
            }
            return report
        }
    }

    private func contents(
        of keys: LoadedKeys, _ source: TokenSource, _ document: MetadataDocument
    ) throws(LoadFailure) -> DocumentReport.Contents {
        let basis = try rethrowing(as: { source.metadataNotTrusted($0, issuer: keys.issuer) }) {
            () throws(MetadataError) in try keys.metadata.check(against: source.metadataRules(of: document))
        }
        return DocumentReport.Contents(
            issuer: keys.issuer, basis: basis, keySetURL: keys.metadata.keySetURL,
            keyIdentifiers: keys.keys.map(\.published.keyIdentifier), algorithms: keys.keys.map(\.published.algorithm),
            skipped: keys.skipped)
    }
}
