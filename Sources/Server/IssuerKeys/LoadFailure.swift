internal import Curl
internal import Tokens

/// Why the keys of a source could not be loaded.
enum LoadFailure: Error, Equatable {
    case metadataNotFetched(FetchError)
    case metadataNotBelieved(MetadataError)
    case keysNotFetched(FetchError)
    case keysNotRead(KeySetError)
    case noUsableKey(String?)
    /// Another source of the same host was out of reach a moment ago.
    case hostOutOfReach(FetchError)
    /// The issuer is of another tenant than that of this source, which serves.
    case otherIssuer(than: String)

    /// What happened and what to do about it, in one line.
    var words: String {
        switch self {
        case .metadataNotFetched(.status(404)):
            "the authority answers 404 for the metadata: it knows no such tenant or policy; "
                + "check TASKS_AUTHORITY and TASKS_POLICIES"
        case .metadataNotFetched(let error): "the metadata could not be fetched: \(error.message)\(error.setting)"
        case .metadataNotBelieved(let error): error.words
        case .keysNotFetched(let error): "the keys could not be fetched: \(error.message)\(error.setting)"
        case .keysNotRead(.notJSON): "the key set is not one JSON object within the limits; ask the provider"
        case .keysNotRead(.noKeyList): "the key set has no list of keys; ask the provider"
        case .keysNotRead(.tooManyKeys(let count)):
            "the key set has \(count) keys, more than \(KeySetDocument.mostKeys); ask the provider"
        case .noUsableKey(nil): "the key set has no keys; ask the provider"
        case .noUsableKey(let reason?): "none of the published keys may be used: of the first, \(reason)"
        case .hostOutOfReach(let error): error.message
        case .otherIssuer(let source):
            "the metadata names another issuer than that of \(source), and two providers may not share a server: "
                + "run one for each, with a database of its own"
        }
    }

    /// The error that will befall everything on the same host, if it is of that kind.
    var outOfReach: FetchError? {
        switch self {
        case .metadataNotFetched(let error), .keysNotFetched(let error), .hostOutOfReach(let error):
            switch error {
            case .couldNotResolve, .couldNotConnect, .timedOut, .cancelled: error
            case .badAddress, .plainHTTPRefused, .certificateNotTrusted, .handshakeFailed, .badCAFile, .redirected,
                .status, .tooLong, .encoded, .brokenAnswer, .unavailable:
                nil
            }
        case .metadataNotBelieved, .keysNotRead, .noUsableKey, .otherIssuer: nil
        }
    }
}

extension FetchError {
    /// The settings that may mend it, which the fetcher does not know.
    fileprivate var setting: String {
        switch self {
        case .certificateNotTrusted, .badCAFile: " (TASKS_CA_FILE, TASKS_AUTHORITY)"
        case .plainHTTPRefused: " (TASKS_ALLOW_HTTP_AUTHORITY)"
        case .couldNotResolve, .couldNotConnect, .handshakeFailed, .brokenAnswer, .redirected: " (TASKS_AUTHORITY)"
        case .badAddress, .timedOut, .status, .tooLong, .encoded, .cancelled, .unavailable: ""
        }
    }
}
