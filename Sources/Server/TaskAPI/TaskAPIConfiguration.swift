public import Platform
public import Tasks
public import Tokens

/// All that the API needs from outside.
public struct TaskAPIConfiguration: Sendable {
    /// Where tasks are kept.
    public var store: any TaskStore
    /// What judges tokens.
    public var verifier: any TokenVerifier
    /// Where the time comes from.
    public var time: any TimeSource
    /// What a token must carry in `scp` to read, to write; nil: nothing (the old clients send ID tokens).
    public var readScope: String?
    /// See ``readScope``.
    public var writeScope: String?
    /// Whether `?access_token=` is taken where no `Authorization` is.
    public var allowQueryToken = false
    /// Which pages of other origins may call.
    public var origins = CrossOrigin.any
    /// The longest body, in bytes.
    public var bodyLimit = 65536
    /// How many tasks one person may have.
    public var taskLimit = 10_000
    /// Requests a second for one person, and twice that at once; nil: no limit.
    public var rateLimit: Int?
    /// The address by which clients reach this server, without a slash at its end.
    public var publicAddress: String?
    /// Whether clients reach this server itself by https, without a proxy.
    public var isSecure = false
    /// The files of `Public/`, by their path.
    public var files: [String: PublicFile] = [:]
    /// What the page needs to sign in.
    public var page = PageConfiguration()
    /// Whether the server can answer: nil if so, else the reason in words.
    public var readiness: @Sendable () async -> String? = { nil }
    /// A digest of a refused token, for the log (V-132).
    public var fingerprint: @Sendable (_ token: String) -> String? = { _ in nil }
    /// Told of every request when its answer is ready; must not block.
    public var observe: @Sendable (RequestRecord) -> Void = { _ in }

    /// The API over this store, with tokens judged by this verifier.
    public init(store: any TaskStore, verifier: any TokenVerifier, time: any TimeSource = SystemTime()) {
        self.store = store
        self.verifier = verifier
        self.time = time
    }
}

/// Which origins a browser may call from (the Fetch standard's CORS protocol).
public enum CrossOrigin: Sendable, Equatable {
    /// Every one: the API takes no cookies, so an origin by itself opens nothing.
    case any
    /// These, written as browsers send them: `https://app.example.com`.
    case only([String])
}

/// What the page learns from `/config.json`.
public struct PageConfiguration: Sendable, Equatable {
    /// The authority as the browser reaches it; empty: none is configured.
    public var authority: String
    /// The application to sign in to.
    public var clientIdentifier: String
    /// The policies, in the configured order.
    public var policies: [String]
    /// The scopes to ask for.
    public var scopes: [String]
    /// The issuers, for the protected resource metadata (RFC 9728).
    public var authorizationServers: [String]

    /// A configuration of these parts.
    public init(
        authority: String = "", clientIdentifier: String = "", policies: [String] = [], scopes: [String] = [],
        authorizationServers: [String] = []
    ) {
        self.authority = authority
        self.clientIdentifier = clientIdentifier
        self.policies = policies
        self.scopes = scopes
        self.authorizationServers = authorizationServers
    }
}
