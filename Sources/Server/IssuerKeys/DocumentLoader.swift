import Basics
package import Curl
import Platform
import Tokens

/// Fetches and validates the documents of one token source, during one refresh.
struct DocumentLoader {
    struct Load {
        let keys: LoadedKeys
        /// The shorter `Cache-Control: max-age` of the two documents, in seconds.
        let maxAge: Int?
        /// Whether the metadata was fetched too.
        let withMetadata: Bool
    }

    let source: TokenSource
    let fetcher: any DocumentFetcher
    let distrusted: [String]
    /// The keys that were admitted before, of any document: policies may publish the same keys, and a check is slow.
    var admitted: [AdmittedKey]
    /// Origins that could not be reached during this refresh, so that no other document of theirs is tried (V-72).
    var unreachable: [String: FetchError] = [:]
    /// The key sets of this refresh: policies may share a key set, which is then fetched once.
    var keySets: [String: FetchedDocument] = [:]

    /// Loads metadata and keys of one document, or only the keys if its metadata was loaded before and is not due.
    mutating func load(
        _ document: MetadataDocument, withMetadata: Bool, known: ProviderMetadata?
    ) throws(LoadFailure) -> Load {
        if !withMetadata, let known {
            do throws(LoadFailure) {
                return try keys(of: document, known, maxAge: nil, withMetadata: false)
            } catch {
                // If the key set moved, the metadata says where (V-82).
                guard error.fetch == .status(404) || error.fetch == .status(410) else { throw error }
            }
        }
        let fetched = try fetch(document.metadataURL, of: document, failure: source.metadataNotFetched)
        let metadata = try source.trustedMetadata(fetched.body, of: document)
        return try keys(of: document, metadata, maxAge: fetched.maxAge, withMetadata: true)
    }

    private mutating func keys(
        of document: MetadataDocument, _ metadata: ProviderMetadata, maxAge: Int?, withMetadata: Bool
    ) throws(LoadFailure) -> Load {
        let fetched = try keySet(metadata.keySetURL, document)
        let set: KeySetDocument
        do throws(KeySetError) {
            set = try KeySetDocument(parsing: fetched.body, allowing: source.algorithms)
        } catch {
            // authentik without a signing key publishes a set without a list.
            guard error == .noKeyList, metadata.signsWithSecrets else { throw .keysNotRead(error) }
            throw source.unsupportedAlgorithms(metadata.algorithms)
        }
        let loaded = try LoadedKeys(
            of: source, metadata: metadata, document: set, admitted: admitted, distrusted: distrusted)
        admitted += loaded.keys
        // The shorter time counts, because neither document may be used for longer than its provider says.
        let ages = [maxAge, fetched.maxAge].compactMap { $0 }
        return Load(keys: loaded, maxAge: ages.min(), withMetadata: withMetadata)
    }

    private mutating func keySet(_ url: String, _ document: MetadataDocument) throws(LoadFailure) -> FetchedDocument {
        if let fetched = keySets[url] { return fetched }
        let fetched = try fetch(url, of: document, failure: source.keysNotFetched)
        keySets[url] = fetched
        return fetched
    }

    /// Fetches metadata or a key set of a document, unless its origin could not be reached a moment ago.
    ///
    /// Keys may be elsewhere than their metadata: at another port, or at one of the hosts in the settings (P-6).
    private mutating func fetch(
        _ url: String, of document: MetadataDocument, failure: (FetchError, MetadataDocument) -> LoadFailure
    ) throws(LoadFailure) -> FetchedDocument {
        let origin = url.originAndPath.origin
        if let error = unreachable[origin] { throw LoadFailure(error.message, fetch: error) }
        do throws(FetchError) {
            return try fetcher.fetch(try request(url, document))
        } catch {
            if error.isOfOrigin { unreachable[origin] = error }
            throw failure(error, document)
        }
    }

    /// Makes a request; ``MetadataRules`` has allowed plain http before, or the request is for the metadata itself.
    private func request(_ url: String, _ document: MetadataDocument) throws(FetchError) -> FetchRequest {
        // Opening a pipe would block until its other end is opened.
        if let path = document.caFile, File.otherKind(path) != nil { throw .badCAFile(path: path) }
        let allowHTTP = document.rules.allowHTTP || WebAddress(url)?.isLoopback ?? false
        return FetchRequest(url: url, maxBytes: KeySetDocument.longest, caFile: document.caFile, allowHTTP: allowHTTP)
    }
}

extension TokenSource {
    /// Reads metadata from the network or the key file, if it may be trusted as that of this document (V-74).
    func trustedMetadata(
        _ bytes: [UInt8], of document: MetadataDocument
    ) throws(LoadFailure) -> ProviderMetadata {
        let metadata = try rethrowing(as: { metadataNotTrusted($0, issuer: nil) }) { () throws(MetadataError) in
            try ProviderMetadata(parsing: bytes)
        }
        try rethrowing(as: { metadataNotTrusted($0, issuer: metadata.issuer) }) { () throws(MetadataError) in
            _ = try metadata.check(against: metadataRules(of: document))
        }
        return metadata
    }
}

extension FetchError {
    /// Whether every other fetch from the same origin would end in the same way.
    fileprivate var isOfOrigin: Bool {
        switch self {
        case .couldNotResolve, .couldNotConnect, .timedOut, .busy, .cancelled: true
        case .badAddress, .plainHTTPRefused, .certificateNotTrusted, .handshakeFailed, .badCAFile, .redirected, .status,
            .tooLong, .encoded, .brokenAnswer, .unavailable:
            false
        }
    }
}

/// Fetches documents for the key cache, from the network or, in tests, from memory.
package protocol DocumentFetcher: Sendable {
    /// Fetches one document within the request's deadlines, and blocks the calling thread.
    func fetch(_ request: FetchRequest) throws(FetchError) -> FetchedDocument
    /// Ends a running fetch within a second, and all later fetches at once (V-91).
    func cancel()
}

extension HTTPFetcher: DocumentFetcher {}

/// The reason why a metadata document could not be loaded.
struct LoadFailure: Error {
    /// The problem and its remedy, in one line.
    let message: String
    /// The fetch that failed, if one did.
    let fetch: FetchError?

    init(_ message: String, fetch: FetchError? = nil) {
        self.message = message
        self.fetch = fetch
    }

    /// The seconds for which the provider asks to be left alone (V-99).
    var retryAfter: Int? { if case .busy(_, let seconds) = fetch { seconds } else { nil } }

    /// Whether the only reason is that the server stops.
    var isCancelled: Bool { fetch == .cancelled }
}

extension TokenSource {
    func metadataNotFetched(_ error: FetchError, _ document: MetadataDocument) -> LoadFailure {
        let setting = providerSetting(of: document)
        let text =
            if error != .status(404) {
                "the metadata could not be fetched: \(error.message)\(error.advice(self, setting))"
            } else if document.rules.demandsOwnIssuer {
                "the provider answers 404 for the metadata: it has no such document; check \(setting)"
            } else {
                "the authority answers 404 for the metadata: it knows no such tenant or policy; "
                    + "check \(setting) and \(self.setting("POLICIES"))"
            }
        return LoadFailure(text, fetch: error)
    }

    func keysNotFetched(_ error: FetchError, _ document: MetadataDocument) -> LoadFailure {
        let advice = error.advice(self, providerSetting(of: document))
        return LoadFailure("the keys could not be fetched: \(error.message)\(advice)", fetch: error)
    }

    /// The failure of metadata that names this issuer, or none.
    func metadataNotTrusted(_ error: MetadataError, issuer: String?) -> LoadFailure {
        LoadFailure(error.message(setting) + error.line(for: issuer, self))
    }

    /// The failure of a document all of whose keys are for these algorithms, of which none is allowed (P-9).
    func unsupportedAlgorithms(_ names: [String]) -> LoadFailure {
        let allowing = ", or allow the algorithm (\(setting("ALGORITHMS")))"
        return LoadFailure(
            "the provider signs with \(names.joined(separator: ", ")) only; let it sign with "
                + algorithms.map(\.rawValue).joined(separator: " or ") + " for this application"
                + (names.contains { SignatureAlgorithm(named: $0) != nil } ? allowing : ""))
    }
}

extension LoadFailure {
    static func keysNotRead(_ error: KeySetError) -> LoadFailure {
        switch error {
        case .notJSON: LoadFailure("the key set is not one JSON object within the limits; ask the provider")
        case .noKeyList: LoadFailure("the key set has no list of keys; ask the provider")
        case .tooManyKeys(let count):
            LoadFailure("the key set has \(count) keys, more than \(KeySetDocument.mostKeys); ask the provider")
        }
    }
}

extension MetadataError {
    /// Returns the line of the settings that accepts this issuer (P-4); empty if no such line would help.
    fileprivate func line(for issuer: String?, _ source: TokenSource) -> String {
        switch self {
        case .malformedIssuer, .insecureIssuer, .foreignIssuer, .unrelatedIssuer:
            guard let issuer, issuer.utf8.count <= 512 else { return "" }
            // The issuer is from the network, and on its way to a log and a terminal.
            let isPlain = issuer.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
            return isPlain ? " (\(source.setting("ISSUER"))=\(issuer))" : ""
        case .notJSON, .missingIssuer, .missingKeySetURL, .insecureSource, .unexpectedIssuer, .foreignTenant,
            .openTenant, .malformedKeySetURL, .insecureKeySetURL, .foreignKeySetURL:
            return ""
        }
    }
}

extension FetchError {
    /// Returns the settings that may correct the error, which the fetcher does not know.
    fileprivate func advice(_ source: TokenSource, _ setting: String) -> String {
        switch self {
        case .certificateNotTrusted, .badCAFile: " (\(source.setting("CA_FILE")), \(setting))"
        case .plainHTTPRefused: " (\(source.setting("ALLOW_HTTP_AUTHORITY")))"
        case .couldNotResolve, .couldNotConnect, .handshakeFailed, .brokenAnswer, .redirected: " (\(setting))"
        case .badAddress, .timedOut, .status, .busy, .tooLong, .encoded, .cancelled, .unavailable: ""
        }
    }
}
