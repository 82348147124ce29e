import Basics
package import Platform
package import Tasks
package import Tokens

/// Everything that the API needs from outside.
package struct TaskAPIConfiguration: Sendable {
    package var store: any TaskStore
    package var verifier: any TokenVerifier
    package var time: any TimeSource
    /// The scopes that clients may ask for, for the metadata of the protected resource; what a token must have is in
    /// its ``Tokens/Principal``.
    package var scopes: [String] = []
    /// Whether `?access_token=` is taken where no `Authorization` is.
    package var allowQueryToken = false
    /// Which pages of other origins may call.
    package var origins = CrossOrigin.any
    /// The places of long answers; the store has the same.
    package var answers = AnswerMemory()
    /// How long a request may wait for such a place.
    package var answerPatience = Duration.seconds(1)
    /// The longest body, in bytes.
    package var bodyLimit = 65536
    /// How many tasks one person may have.
    package var taskLimit = 10_000
    /// How many streams of changes may be open at once.
    package var streams = 500
    /// Requests a second for one person, and twice that at once; nil: no limit.
    package var rateLimit: Int?
    /// The address by which clients reach this server, without a slash at its end.
    package var publicAddress: String?
    /// The path of that address, such as `/todo`, which all links in answers begin with; empty if it has none.
    package var base: String { publicAddress?.originAndPath.path ?? "" }
    /// Whether clients reach this server itself by https, without a proxy.
    package var isSecure = false
    /// The files of `Public/`, by their path.
    package var files: [String: PublicFile] = [:]
    package var page = PageConfiguration()
    /// The issuers whose tokens are accepted now, as far as they are known, for the metadata of the protected resource.
    package var authorizationServers: @Sendable () -> [String] = { [] }
    /// Whether the server can answer: nil if so, else the reason.
    package var readiness: @Sendable () async -> String? = { nil }
    /// The facts about a refused token, for the log (V-132).
    package var examine: @Sendable (_ token: String, TokenRefusal) -> RefusedToken? = { _, _ in nil }
    /// Called with every request when its answer is ready; must not block.
    package var observe: @Sendable (RequestRecord) -> Void = { _ in }

    /// The API over this store, with tokens checked by this verifier.
    package init(store: any TaskStore, verifier: any TokenVerifier, time: any TimeSource = SystemTime()) {
        self.store = store
        self.verifier = verifier
        self.time = time
    }
}

/// Which origins a browser may call from (the Fetch standard's CORS protocol).
package enum CrossOrigin: Sendable, Equatable {
    /// Every origin. The API takes no cookies, so an origin alone gives access to nothing.
    case any
    /// These origins, written as browsers send them: `https://app.example.com`.
    case only([String])
}

/// What the page learns from `/config.json`.
package struct PageConfiguration: Sendable, Equatable {
    /// The authority as the browser reaches it; empty if not configured.
    package var authority: String
    package var clientIdentifier: String
    /// The policies, in the configured order.
    package var policies: [String]
    package var scopes: [String]

    package init(
        authority: String = "", clientIdentifier: String = "", policies: [String] = [], scopes: [String] = []
    ) {
        self.authority = authority
        self.clientIdentifier = clientIdentifier
        self.policies = policies
        self.scopes = scopes
    }
}
