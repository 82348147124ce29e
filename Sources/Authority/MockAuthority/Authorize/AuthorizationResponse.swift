import Basics
import HTTP
import JSON
import OpenSSL

/// A successful response to an authorization request (RFC 6749 section 4.1.2): a code, tokens, or both.
struct AuthorizationResponse: Sendable {
    let context: RequestContext
    let request: AuthorizationRequest

    /// How long a code can be redeemed, in seconds.
    static let lifetimeOfCode: Int64 = 300

    /// The response for the user who signed in: a redirect, or the page that posts itself.
    ///
    /// `signedIn` is in seconds since 1970, `newUser` says whether the sign-in created the account, and `headers` are
    /// more field lines, such as the cookie of the session.
    func response(_ user: User, signedIn: Int64, newUser: Bool, headers: FieldLines = FieldLines()) async -> Response {
        let signIn = SignIn(
            time: signedIn, nonce: request.options.nonce, newUser: newUser, showsTime: request.options.wantsTime,
            claims: request.options.claims)
        let granted = context.granted(user, request.client, request.scope, signIn)
        do throws(PrivateKeyError) {
            return request.delivery.response(try await fields(granted), headers: headers)
        } catch {
            return request.delivery.response(Refusal(.internalError), context)
        }
    }

    private func fields(_ granted: GrantedRequest) async throws(PrivateKeyError) -> [(String, String)] {
        let version = request.delivery.adminConsent
        var fields = version == nil ? [] : [("admin_consent", "True"), ("tenant", context.provider.tenant.id)]
        if let state = request.delivery.state { fields.append(("state", state)) }
        if let version { return version == 1 ? fields : fields + [("scope", request.scope.text)] }
        if request.options.clientInfo { fields.append(("client_info", granted.clientInformation(context.provider))) }
        let code = request.types.contains(.code) ? code(granted) : nil
        if let code { fields.append(("code", code)) }
        fields += try await tokens(granted, code: code)
        guard context.provider.traits.namesRequest else { return fields }
        return fields + [("session_state", EntraClaims.sessionID(of: granted.user, at: granted.signIn.time))]
    }

    /// The tokens that the response type asks for, and no others: a signature is the most expensive part of a response.
    private func tokens(_ granted: GrantedRequest, code: String?) async throws(PrivateKeyError) -> [(String, String)] {
        var fields: [(String, String)] = []
        let claims = context.provider.claims(of: granted, at: context.base)
        var accessToken: String?
        if request.types.contains(.token) {
            accessToken = try claims.accessToken(signedBy: await context.authority.signer(for: context.run))
        }
        if let accessToken {
            fields = [
                ("access_token", accessToken), ("token_type", "Bearer"),
                ("expires_in", "\(claims.lifetime)"), ("scope", granted.scope.text),
            ]
        }
        if request.types.contains(.idToken) {
            let identity = claims.idToken(for: accessToken, code: code)
            fields.append(("id_token", try await context.authority.signer(for: context.run).sign(identity)))
        }
        return fields
    }

    private func code(_ granted: GrantedRequest) -> String {
        let grant = Grant(
            kind: .code,
            binding: .init(
                client: granted.client.id, policy: granted.policy.name, scope: granted.scope.text,
                redirectURI: request.delivery.redirectURI, challenge: request.options.challenge),
            user: granted.user.objectID, generation: granted.user.status.generation, signIn: granted.signIn,
            issued: granted.now, expires: granted.now + Self.lifetimeOfCode)
        return context.authority.seal.seal(grant)
    }
}

/// How the answer to an authorization request reaches the client.
struct Delivery: Sendable, Equatable {
    enum Mode: String, Sendable {
        case query, fragment
        case formPost = "form_post"
    }

    /// The URI as registered or as requested, byte for byte.
    ///
    /// `urn:` and custom schemes are never normalised.
    var redirectURI: String
    var isSentExactly: Bool
    var mode: Mode
    var state: String?
    /// The version of the endpoint where an administrator consents; its answers have no code or token.
    var adminConsent: Int?
}

extension Delivery {
    /// Finds the way for the answer to a request.
    ///
    /// A redirect URI that is not registered is reported to one that is, as B2C does; the others report it on a page.
    init(_ parameters: Parameters, _ client: Client, _ configuration: Configuration) throws(AuthorizationFailure) {
        state = parameters["state"]
        let types = parameters["response_type"]?.spaceSeparated ?? []
        let isImplicit = types.contains("id_token") || types.contains("token")
        mode = parameters["response_mode"].flatMap(Mode.init(rawValue:)) ?? (isImplicit ? .fragment : .query)
        guard let registered = client.redirectURIs.first else {
            throw .page(Refusal(.redirectMismatch, parameters["redirect_uri"] ?? "", client.id))
        }
        let provider = configuration.provider
        isSentExactly = provider.traits.matchesRedirectURIsExactly
        if isSentExactly, parameters["redirect_uri"] == nil { throw .page(Refusal(.missingParameter, "redirect_uri")) }
        redirectURI = parameters["redirect_uri"] ?? registered
        guard configuration.behaviour.lax || client.accepts(redirectURI, exactly: isSentExactly) else {
            let refusal = Refusal(.redirectMismatch, redirectURI, client.id)
            guard provider.traits.reportsToRegisteredURI else { throw .page(refusal) }
            redirectURI = registered
            throw .client(refusal, self)
        }
    }

    /// Refuses an unknown mode, and tokens in a query, which servers log.
    func checkMode(_ asked: String?, for types: Set<ResponseType>) throws(Refusal) {
        guard let asked else { return }
        guard let known = Mode(rawValue: asked), known != .query || types == [.code] else {
            throw Refusal(.responseMode, asked)
        }
    }

    func response(_ fields: [(String, String)], headers: FieldLines = FieldLines()) -> Response {
        switch mode {
        case .query: redirect(redirectURI.contains("?") ? "&" : "?", fields, headers)
        case .fragment: redirect("#", fields, headers)
        case .formPost: Page.formPost(fields, to: address, headers).response
        }
    }

    /// The redirect URI; Microsoft's services put a slash after a host that nothing follows.
    private var address: String {
        let isHost = WebAddress(redirectURI).map { $0.path.isEmpty && $0.query == nil && !$0.hasFragment } ?? false
        return isHost && !isSentExactly && !redirectURI.hasSuffix("/") ? "\(redirectURI)/" : redirectURI
    }

    private func redirect(_ separator: String, _ fields: [(String, String)], _ more: FieldLines) -> Response {
        let pairs = fields.map { "\($0.0)=\(PercentEncoding.encode($0.1, .lower))" }.joined(separator: "&")
        let answer = pairs.isEmpty ? "" : separator + pairs
        var headers: FieldLines = [
            "Location": PercentEncoding.fieldValue(uri: address) + answer, "Cache-Control": "no-store",
            "Referrer-Policy": "no-referrer",
        ]
        headers.append(more)
        return Response(302, headers: headers)
    }

    /// Returns the answer with a refusal, whose parameters are in the order of the service.
    func response(_ refusal: Refusal, _ context: RequestContext) -> Response {
        let words = context.words(of: refusal)
        var fields = [("error", words.error)]
        if let subcode = words.subcode { fields.append(("error_subcode", subcode)) }
        fields.append(("error_description", words.description))
        if let page = words.page { fields.append(("error_uri", page)) }
        if adminConsent != nil { fields.append(("admin_consent", "True")) }
        if let state { fields.append(("state", state)) }
        return response(fields)
    }
}

extension Client {
    /// Whether answers may go to a URI.
    ///
    /// They may go to a registered one, to another port of a registered one on the loopback (RFC 8252 section 7.3) and,
    /// if `http://localhost` is registered, to every path there, unless the URI has to be registered exactly.
    func accepts(_ uri: String, exactly: Bool = false) -> Bool {
        if redirectURIs.contains(where: { $0.isSame(as: uri) }) { return true }
        guard let address = WebAddress(uri), !address.isEncrypted, address.isLoopback, !address.hasFragment else {
            return false
        }
        let isOfOtherPort = redirectURIs.contains { text in
            guard let registered = WebAddress(text), !registered.isEncrypted else { return false }
            let endsAlike = address.path.isEmpty || text.hasSuffix("/") == uri.hasSuffix("/")
            return registered.host == address.host && registered.path == address.path
                && registered.query == address.query && endsAlike
        }
        return isOfOtherPort || !exactly && redirectURIs.contains("http://localhost")
    }
}

extension RequestContext {
    func words(of refusal: Refusal) -> RefusalWords { provider.words(of: refusal, self) }

    /// The answer of the token endpoint with these words.
    func refused(_ words: RefusalWords, _ status: Status) -> Response {
        refused(["error": .string(words.error), "error_description": .string(words.description)], status)
    }

    /// A refusal, with a challenge for a client that failed to authenticate by a field (RFC 6749 section 5.2).
    func refused(_ body: JSONValue, _ status: Status) -> Response {
        var headers = headers
        if status == 401, head.headers.contains("Authorization") {
            headers.append("WWW-Authenticate", "Basic realm=\"\(provider.tenant.name)\"")
        }
        return Response.json(body, status: status, headers: headers)
    }
}
