import Basics
import Curl
package import Tokens

/// The result of an attempt to load a metadata document, for `task-server check`.
package struct DocumentReport: Sendable {
    package let source: TokenSource
    package let document: MetadataDocument
    /// The metadata, and the reason for which its issuer is believed; nil if the document was not loaded.
    package let trusted: (metadata: ProviderMetadata, basis: IssuerBasis)?
    package let keys: [KeySetDocument.Key]
    /// Published keys that are not used, with the reasons.
    package let skipped: [SkippedKey]
    /// The problem and its remedy; nil if the document was loaded.
    package let problem: String?

    fileprivate init(_ source: TokenSource, _ document: MetadataDocument, _ state: DocumentState) {
        (self.source, self.document, problem) = (source, document, state.problem)
        keys = state.keys?.keys.map(\.published) ?? []
        skipped = state.keys?.skipped ?? []
        trusted = state.keys.flatMap { keys in
            (try? keys.metadata.check(against: source.metadataRules(of: document))).map { (keys.metadata, $0) }
        }
    }
}

extension IssuerKeysConfiguration {
    /// Loads every metadata document once as a server does, on this thread; the key file is neither read nor written.
    package func check(fetcher: any DocumentFetcher = HTTPFetcher()) -> [DocumentReport] {
        var configuration = self
        configuration.keyCacheFile = nil
        let verifier = BearerVerifier(configuration, fetcher: fetcher)
        verifier.loadOnce()
        return verifier.caches.flatMap { cache in
            zip(cache.source.documents, cache.documents).map { document, state in
                DocumentReport(cache.source, document, state)
            }
        }
    }
}
