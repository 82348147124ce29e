import Basics
import JSON

/// A good authorization request (RFC 6749 section 4.1.1, OpenID Connect Core 3.1.2.1).
struct AuthorizationRequest: Sendable {
    let client: Client
    /// The place to which the answer goes, and its form.
    let delivery: Delivery
    let types: Set<ResponseType>
    let scope: Scope
    let options: Options

    struct Options: Sendable, Equatable {
        var nonce: String?
        var challenge: Grant.Challenge?
        var prompt: String?
        var hint = AccountHint()
        /// The most seconds that may have passed since the person signed in; `nil` if every time is good.
        var maximumAge: Int64?
        /// Whether the ID token has to say when the person signed in, also where the service leaves that out.
        var wantsTime = false
        var claims = RequestedClaims()
        var clientInfo = false

        /// The form that the prompt `create` of External ID opens.
        var form: String? { prompt == "create" ? PageForm.signUp.rawValue : nil }

        /// Whether a sign-in at this time, in seconds since 1970, is recent enough.
        func allows(signIn time: Int64, now: Int64) -> Bool { maximumAge.map { now - time <= $0 } ?? true }
    }
}

/// What the answer to an authorization request may contain.
enum ResponseType: String, Sendable {
    case code, token
    case idToken = "id_token"
}

extension Set<ResponseType> {
    /// Reads `response_type`: types in any order, each once.
    init?(_ text: String) {
        let words = text.spaceSeparated
        self.init(words.compactMap(ResponseType.init))
        if isEmpty || count != words.count { return nil }
    }
}

/// A refused authorization request: the reason, and the place where the reason may be said.
enum AuthorizationFailure: Error, Sendable {
    /// A page shows the reason, because the place for the answer is not known to be good.
    case page(Refusal)
    case client(Refusal, Delivery)
}

extension AuthorizationRequest {
    /// Checks the parameters of a request, and throws the first refusal with the place for it.
    ///
    /// `adminConsent` is the version of the endpoint where an administrator consents; only the second one names scopes.
    init(_ parameters: Parameters, _ context: RequestContext, adminConsent: Int?) throws(AuthorizationFailure) {
        let configuration = context.configuration
        let client = try rethrowing(as: AuthorizationFailure.page) { () throws(Refusal) in
            guard let id = parameters["client_id"] else { throw Refusal(.missingClient) }
            return try context.client(called: id)
        }
        var delivery = try Delivery(parameters, client, configuration)
        delivery.adminConsent = adminConsent
        do throws(Refusal) {
            let provider = configuration.provider
            if let adminConsent {
                let all = provider.traits.standardScopes + provider.resources.flatMap { $0.resource.fullScopes }
                let text = try adminConsent == 1 ? all.joined(separator: " ") : parameters.required("scope")
                let scope = try Scope(text, client: client, provider, ofSeveralAPIs: true)
                self.init(client: client, delivery: delivery, types: [], scope: scope, options: Options())
                return
            }
            try provider.checkSupport(parameters)
            let text = parameters["response_type"] ?? ""
            guard let types = Set<ResponseType>(text) else { throw Refusal(.responseType, text) }
            try delivery.checkMode(parameters["response_mode"], for: types)
            guard let scopeText = parameters["scope"] else { throw Refusal(.missingScope) }
            // A code may be for several APIs, since each token request names one of them.
            let mayBeSeveral = provider.traits.authorizesSeveralAPIs && !types.contains(.token)
            let scope = try Scope(scopeText, client: client, provider, ofSeveralAPIs: mayBeSeveral)
            if types.contains(.idToken), !scope.openID { throw Refusal(.openIDScopeMissing) }
            var options = try Options(parameters, client, provider)
            try provider.read(parameters, for: types, into: &options)
            self.init(client: client, delivery: delivery, types: types, scope: scope, options: options)
        } catch {
            throw .client(error, delivery)
        }
    }
}

extension AuthorizationRequest.Options {
    fileprivate init(_ parameters: Parameters, _ client: Client, _ provider: any Provider) throws(Refusal) {
        nonce = parameters["nonce"]
        hint = AccountHint(
            name: parameters["login_hint"], session: parameters["sid"], token: parameters["id_token_hint"])
        maximumAge = parameters["max_age"].flatMap { Int64($0) }
        let claims = parameters["claims"].flatMap { try? JSONValue(parsing: Array($0.utf8)) }
        wantsTime = maximumAge != nil || claims?.object?["id_token"]?.object?["auth_time"] != nil
        clientInfo = parameters["client_info"] == "1"
        // Of several prompts the first here counts; `none` stands alone (OpenID Connect Core 3.1.2.1).
        let known = ["none", "login", "select_account", "consent"] + provider.traits.prompts
        let severally = provider.traits.takesSeveralPrompts
        let prompts = parameters["prompt"].map { severally ? $0.spaceSeparated : [$0] } ?? []
        guard prompts.allSatisfy(known.contains), prompts.count < 2 || !prompts.contains("none") else {
            throw Refusal(.wrongPrompt)
        }
        prompt = known.first(where: prompts.contains)
        let method = parameters["code_challenge_method"]
        guard [nil, "plain", "S256"].contains(method) else { throw Refusal(.challengeMethod) }
        challenge = parameters["code_challenge"].map { .init(text: $0, hashed: method == "S256") }
        if client.singlePage == true, challenge == nil { throw Refusal(.challengeMissing) }
    }
}
