import Basics
import Curl
import Platform
import Tokens

/// Fetches and validates what key sources publish, during one refresh.
struct KeySourceLoader {
    struct Load {
        let keys: LoadedKeys
        /// The shorter `Cache-Control: max-age` of the two documents, in seconds.
        let maxAge: Int?
        /// Whether the metadata was fetched too.
        let withMetadata: Bool
    }

    let fetcher: any DocumentFetcher
    let distrusted: [String]
    /// Origins that could not be reached during this refresh: the other key sources there are not tried (V-72).
    private var unreachable: [String: FetchError] = [:]
    /// Policies may share a key set, which is then fetched once per refresh.
    private var keySets: [String: FetchedDocument] = [:]

    init(fetcher: any DocumentFetcher, distrusted: [String]) {
        self.fetcher = fetcher
        self.distrusted = distrusted
    }

    /// Loads one key source: its metadata and keys, or, if it was loaded before and metadata is not due, the keys only.
    mutating func load(
        _ source: KeySource, withMetadata: Bool, known: LoadedKeys?
    ) throws(LoadFailure) -> Load {
        if let error = unreachable[source.origin] { throw .originUnreachable(error) }
        do throws(LoadFailure) {
            return try fetch(source, withMetadata: withMetadata, known: known)
        } catch {
            unreachable[source.origin] = error.unreachable
            throw error
        }
    }

    private mutating func fetch(
        _ source: KeySource, withMetadata: Bool, known: LoadedKeys?
    ) throws(LoadFailure) -> Load {
        if !withMetadata, let known {
            do throws(LoadFailure) {
                return try keys(of: source, known.issuer, known.keySetURL, known, maxAge: nil, withMetadata: false)
            } catch .keysNotFetched(.status(404), _), .keysNotFetched(.status(410), _) {
                // The key set moved; the metadata says where (V-82).
            } catch {
                throw error
            }
        }
        let (metadata, maxAge) = try metadata(of: source)
        return try keys(of: source, metadata.issuer, metadata.keySetURL, known, maxAge: maxAge, withMetadata: true)
    }

    private func metadata(of source: KeySource) throws(LoadFailure) -> (ProviderMetadata, maxAge: Int?) {
        let notFetched = { LoadFailure.metadataNotFetched($0, setting: source.setting) }
        let document = try rethrowing(as: notFetched) { () throws(FetchError) in
            try fetcher.fetch(try request(source.metadataURL, source))
        }
        let metadata = try rethrowing(as: LoadFailure.metadataNotTrusted) { () throws(MetadataError) in
            let metadata = try ProviderMetadata(parsing: document.body)
            try metadata.check(against: source.metadataRules)
            return metadata
        }
        return (metadata, document.maxAge)
    }

    private mutating func keys(
        of source: KeySource, _ issuer: String, _ url: String, _ known: LoadedKeys?, maxAge: Int?, withMetadata: Bool
    ) throws(LoadFailure) -> Load {
        let document = try keySet(url, source)
        let keys = try rethrowing(as: LoadFailure.keysNotRead) { () throws(KeySetError) in
            try KeySetDocument(parsing: document.body)
        }
        let loaded = try LoadedKeys(
            issuer: issuer, keySetURL: url, document: keys, known: known?.keys ?? [], distrusted: distrusted)
        // The shorter of the two: neither document is to be used for longer than its provider says.
        let ages = [maxAge, document.maxAge].compactMap { $0 }
        return Load(keys: loaded, maxAge: ages.min(), withMetadata: withMetadata)
    }

    private mutating func keySet(_ url: String, _ source: KeySource) throws(LoadFailure) -> FetchedDocument {
        if let document = keySets[url] { return document }
        let notFetched = { LoadFailure.keysNotFetched($0, setting: source.setting) }
        let document = try rethrowing(as: notFetched) { () throws(FetchError) in
            try fetcher.fetch(try request(url, source))
        }
        keySets[url] = document
        return document
    }

    /// Plain http was allowed by ``MetadataRules`` already, or the request is for the metadata itself.
    private func request(_ url: String, _ source: KeySource) throws(FetchError) -> FetchRequest {
        // Opening a pipe would block until its other end is opened.
        if let path = source.caFile, File.otherKind(path) != nil { throw .badCAFile(path: path) }
        let allowHTTP = source.allowHTTP || WebAddress(url)?.isLoopback ?? false
        return FetchRequest(url: url, maxBytes: KeySetDocument.longest, caFile: source.caFile, allowHTTP: allowHTTP)
    }
}
