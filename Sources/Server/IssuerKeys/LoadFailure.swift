import Basics
import Curl
import Tokens

/// Why a metadata document could not be loaded.
enum LoadFailure: Error, Equatable {
    /// The metadata could not be fetched; the setting names the provider, as in `keysNotFetched`.
    case metadataNotFetched(FetchError, setting: String)
    /// The metadata is not trusted; the issuer is the one that it names, if any.
    case metadataNotTrusted(MetadataError, issuer: String?)
    case keysNotFetched(FetchError, setting: String)
    case keysNotRead(KeySetError)
    case noUsableKey(String?)
    /// All keys are for these algorithms, and none is for one that is allowed (P-9).
    case unsupportedAlgorithms([String])
    /// Another fetch from the same origin failed a moment ago.
    case originUnreachable(FetchError)
    /// The issuer is of another tenant than this metadata document, which serves.
    case otherIssuer(than: String)
    /// The issuer belongs to the token source of this name (P-2).
    case issuerOfOtherSource(String)
    /// The issuer is of another tenant than the settings name for the sources that share owners by this setting (P-15).
    case sharedTenantDiffers(setting: String)

    /// Returns the problem and its remedy, in one line.
    ///
    /// `source` is the token source of the document, for the names of its settings.
    func message(in source: TokenSource) -> String {
        switch self {
        case .metadataNotFetched(.status(404), let setting) where setting.hasSuffix("METADATA_URL"):
            "the provider answers 404 for the metadata: it has no such document; check \(setting)"
        case .metadataNotFetched(.status(404), _):
            "the authority answers 404 for the metadata: it knows no such tenant or policy; "
                + "check \(source.setting("AUTHORITY")) and \(source.setting("POLICIES"))"
        case .metadataNotFetched(let error, let setting):
            "the metadata could not be fetched: \(error.message)\(error.advice(source, setting))"
        case .metadataNotTrusted(let error, let issuer): error.message(source.setting) + error.line(for: issuer, source)
        case .keysNotFetched(let error, let setting):
            "the keys could not be fetched: \(error.message)\(error.advice(source, setting))"
        case .keysNotRead(.notJSON): "the key set is not one JSON object within the limits; ask the provider"
        case .keysNotRead(.noKeyList): "the key set has no list of keys; ask the provider"
        case .keysNotRead(.tooManyKeys(let count)):
            "the key set has \(count) keys, more than \(KeySetDocument.mostKeys); ask the provider"
        case .noUsableKey(nil): "the key set has no keys; ask the provider"
        case .noUsableKey(let reason?): "none of the published keys may be used: one is refused because \(reason)"
        case .unsupportedAlgorithms(let names):
            "the provider signs with \(names.joined(separator: ", ")) only; let it sign with "
                + source.algorithms.map(\.rawValue).joined(separator: " or ") + " for this application"
                + (names.contains { SignatureAlgorithm(named: $0) != nil }
                    ? ", or allow the algorithm (\(source.setting("ALGORITHMS")))" : "")
        case .originUnreachable(let error): error.message
        case .otherIssuer(let other):
            "the metadata names another issuer than that of \(other), and two providers may not be one source: "
                + "configure each as a source of its own (TASKS_SOURCES)"
        case .issuerOfOtherSource(let other):
            "the metadata names an issuer whose tokens are those of \(other); an issuer belongs to one source"
        case .sharedTenantDiffers(let setting):
            "the metadata names another tenant than the settings name for the sources that share owners (\(setting)); "
                + "correct the tenant id in the settings, or do not share owners"
        }
    }

    /// Whether the only reason is that the server stops.
    var isCancelled: Bool {
        switch self {
        case .metadataNotFetched(let error, _), .keysNotFetched(let error, _), .originUnreachable(let error):
            error == .cancelled
        case .metadataNotTrusted, .keysNotRead, .noUsableKey, .unsupportedAlgorithms, .otherIssuer,
            .issuerOfOtherSource, .sharedTenantDiffers:
            false
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
