import Basics
import Curl
import Tokens

/// Why a metadata document could not be loaded.
struct LoadFailure: Error {
    /// The problem and its remedy, in one line.
    let message: String
    /// The fetch that failed, if one did.
    let fetch: FetchError?

    init(_ message: String, fetch: FetchError? = nil) {
        self.message = message
        self.fetch = fetch
    }

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

    /// The issuer is the one that the metadata names, if any.
    func metadataNotTrusted(_ error: MetadataError, issuer: String?) -> LoadFailure {
        LoadFailure(error.message(setting) + error.line(for: issuer, self))
    }

    /// All keys are for these algorithms, and none is for one that is allowed (P-9).
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
        case .badAddress, .timedOut, .status, .tooLong, .encoded, .cancelled, .unavailable: ""
        }
    }
}
