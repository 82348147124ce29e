internal import Curl
internal import Platform
internal import Tokens

/// Fetches and validates what sources publish, during one flight.
struct SourceLoader {
    /// What an errand brought home.
    struct Load {
        let source: LoadedSource
        let maxAge: Int?
        /// Whether the metadata was fetched too.
        let withMetadata: Bool
    }

    let fetcher: any DocumentFetcher
    let distrusted: [String]
    /// Hosts that did not answer during this flight: the others of their sources are not waited for (V-72).
    private var outOfReach: [String: FetchError] = [:]
    /// Policies may share a key set, which is then fetched once a flight.
    private var keySets: [String: FetchedDocument] = [:]

    init(fetcher: any DocumentFetcher, distrusted: [String]) {
        self.fetcher = fetcher
        self.distrusted = distrusted
    }

    /// Loads one source: its metadata and keys, or, if it was loaded before and metadata is not due, the keys only.
    mutating func load(
        _ source: KeySource, withMetadata: Bool, known: LoadedSource?
    ) throws(LoadFailure) -> Load {
        if let error = outOfReach[source.origin] { throw .hostOutOfReach(error) }
        do throws(LoadFailure) {
            return try fetch(source, withMetadata: withMetadata, known: known)
        } catch {
            outOfReach[source.origin] = error.outOfReach
            throw error
        }
    }

    private mutating func fetch(
        _ source: KeySource, withMetadata: Bool, known: LoadedSource?
    ) throws(LoadFailure) -> Load {
        if !withMetadata, let known {
            do throws(LoadFailure) {
                return try keys(of: source, known.issuer, known.keySetURL, known, maxAge: nil, withMetadata: false)
            } catch .keysNotFetched(.status(404), _), .keysNotFetched(.status(410), _) {
                // They moved; the metadata says where to (V-82).
            } catch {
                throw error
            }
        }
        let (metadata, maxAge) = try metadata(of: source)
        return try keys(of: source, metadata.issuer, metadata.keySetURL, known, maxAge: maxAge, withMetadata: true)
    }

    private func metadata(of source: KeySource) throws(LoadFailure) -> (ProviderMetadata, maxAge: Int?) {
        let document: FetchedDocument
        do throws(FetchError) {
            document = try fetcher.fetch(try request(source.metadataURL, source))
        } catch {
            throw .metadataNotFetched(error, setting: source.setting)
        }
        do throws(MetadataError) {
            let metadata = try ProviderMetadata(parsing: document.body)
            try metadata.check(against: source.metadataRules)
            return (metadata, document.maxAge)
        } catch {
            throw .metadataNotBelieved(error)
        }
    }

    private mutating func keys(
        of source: KeySource, _ issuer: String, _ url: String, _ known: LoadedSource?, maxAge: Int?, withMetadata: Bool
    ) throws(LoadFailure) -> Load {
        let document = try keySet(url, source)
        let keys: KeySetDocument
        do throws(KeySetError) {
            keys = try KeySetDocument(parsing: document.body)
        } catch {
            throw .keysNotRead(error)
        }
        let loaded = try LoadedSource(
            issuer: issuer, keySetURL: url, document: keys, known: known?.keys ?? [], distrusted: distrusted)
        // The shorter of the two: neither document is to be used for longer than its provider says.
        let ages = [maxAge, document.maxAge].compactMap { $0 }
        return Load(source: loaded, maxAge: ages.min(), withMetadata: withMetadata)
    }

    private mutating func keySet(_ url: String, _ source: KeySource) throws(LoadFailure) -> FetchedDocument {
        if let document = keySets[url] { return document }
        do throws(FetchError) {
            let document = try fetcher.fetch(try request(url, source))
            keySets[url] = document
            return document
        } catch {
            throw .keysNotFetched(error, setting: source.setting)
        }
    }

    /// Plain http passed the rules of ``MetadataRules`` already, or the fetch is of the metadata itself.
    private func request(_ url: String, _ source: KeySource) throws(FetchError) -> FetchRequest {
        // Whoever opens a pipe waits for its other end.
        if let path = source.caFile, File.otherKind(path) != nil { throw .badCAFile(path: path) }
        let allowHTTP = source.allowHTTP || FetchAddress(url)?.isLoopback ?? false
        return FetchRequest(url: url, maxBytes: KeySetDocument.longest, caFile: source.caFile, allowHTTP: allowHTTP)
    }
}
