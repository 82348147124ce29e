import Curl
import Tokens

/// Why a key source could not be loaded.
enum LoadFailure: Error, Equatable {
    /// With the setting that names the provider, as `keysNotFetched` has it.
    case metadataNotFetched(FetchError, setting: String)
    case metadataNotTrusted(MetadataError)
    case keysNotFetched(FetchError, setting: String)
    case keysNotRead(KeySetError)
    case noUsableKey(String?)
    /// Another key source of the same origin could not be reached a moment ago.
    case originUnreachable(FetchError)
    /// The issuer is of another tenant than that of this key source, which serves.
    case otherIssuer(than: String)

    /// What happened and what to do about it, in one line.
    var message: String {
        switch self {
        case .metadataNotFetched(.status(404), KeySource.metadataSetting):
            "the provider answers 404 for the metadata: it has no such document; check \(KeySource.metadataSetting)"
        case .metadataNotFetched(.status(404), _):
            "the authority answers 404 for the metadata: it knows no such tenant or policy; "
                + "check TASKS_AUTHORITY and TASKS_POLICIES"
        case .metadataNotFetched(let error, let setting):
            "the metadata could not be fetched: \(error.message)\(error.advice(setting))"
        case .metadataNotTrusted(let error): error.message
        case .keysNotFetched(let error, let setting):
            "the keys could not be fetched: \(error.message)\(error.advice(setting))"
        case .keysNotRead(.notJSON): "the key set is not one JSON object within the limits; ask the provider"
        case .keysNotRead(.noKeyList): "the key set has no list of keys; ask the provider"
        case .keysNotRead(.tooManyKeys(let count)):
            "the key set has \(count) keys, more than \(KeySetDocument.mostKeys); ask the provider"
        case .noUsableKey(nil): "the key set has no keys; ask the provider"
        case .noUsableKey(let reason?): "none of the published keys may be used: of the first, \(reason)"
        case .originUnreachable(let error): error.message
        case .otherIssuer(let source):
            "the metadata names another issuer than that of \(source), and two providers may not share a server: "
                + "run one for each, with a database of its own"
        }
    }

    /// The error that every other fetch from the same origin would have, if it is of that kind.
    var unreachable: FetchError? {
        switch self {
        case .metadataNotFetched(let error, _), .keysNotFetched(let error, _), .originUnreachable(let error):
            switch error {
            case .couldNotResolve, .couldNotConnect, .timedOut, .cancelled: error
            case .badAddress, .plainHTTPRefused, .certificateNotTrusted, .handshakeFailed, .badCAFile, .redirected,
                .status, .tooLong, .encoded, .brokenAnswer, .unavailable:
                nil
            }
        case .metadataNotTrusted, .keysNotRead, .noUsableKey, .otherIssuer: nil
        }
    }
}

extension FetchError {
    /// The settings that may correct it, which the fetcher does not know.
    fileprivate func advice(_ setting: String) -> String {
        switch self {
        case .certificateNotTrusted, .badCAFile: " (TASKS_CA_FILE, \(setting))"
        case .plainHTTPRefused: " (TASKS_ALLOW_HTTP_AUTHORITY)"
        case .couldNotResolve, .couldNotConnect, .handshakeFailed, .brokenAnswer, .redirected: " (\(setting))"
        case .badAddress, .timedOut, .status, .tooLong, .encoded, .cancelled, .unavailable: ""
        }
    }
}
