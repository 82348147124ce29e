import Basics
import HTTP

/// How the answer to an authorization request reaches the client.
struct Delivery: Sendable, Equatable {
    /// The part of a URL, or the form, that carries it.
    enum Mode: String, Sendable {
        case query, fragment
        case formPost = "form_post"
    }

    /// The URI as registered or as requested, byte for byte.
    ///
    /// `urn:` and custom schemes are never normalised.
    var redirectURI: String
    var mode: Mode
    /// The value of the client, which the answer gives back unmodified.
    var state: String?
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
            throw .page(.redirectMismatch(parameters["redirect_uri"] ?? "", client: client.id))
        }
        let isStrict = configuration.profile == .strict
        if isStrict, parameters["redirect_uri"] == nil { throw .page(.missingParameter("redirect_uri")) }
        redirectURI = parameters["redirect_uri"] ?? registered
        guard configuration.behaviour.lax || client.accepts(redirectURI, exactly: isStrict) else {
            let refusal = Refusal.redirectMismatch(redirectURI, client: client.id)
            guard configuration.profile == .b2c else { throw .page(refusal) }
            redirectURI = registered
            throw .client(refusal, self)
        }
    }

    /// Refuses an unknown mode, and tokens in a query, which servers log.
    func checkMode(_ asked: String?, for types: ResponseTypes) throws(Refusal) {
        guard let asked else { return }
        guard let known = Mode(rawValue: asked), known != .query || types == .code else { throw .responseMode(asked) }
    }

    func response(_ fields: [(String, String)], headers: FieldLines = FieldLines()) -> Response {
        switch mode {
        case .query: redirect(redirectURI.contains("?") ? "&" : "?", fields, headers)
        case .fragment: redirect("#", fields, headers)
        case .formPost: Page.formPost(fields, to: redirectURI, headers).response
        }
    }

    private func redirect(_ separator: String, _ fields: [(String, String)], _ more: FieldLines) -> Response {
        let pairs = fields.map { "\($0.0)=\(PercentEncoding.encode($0.1, .lower))" }.joined(separator: "&")
        let answer = pairs.isEmpty ? "" : separator + pairs
        var headers: FieldLines = [
            "Location": PercentEncoding.fieldValue(uri: redirectURI) + answer, "Cache-Control": "no-store",
            "Referrer-Policy": "no-referrer",
        ]
        headers.append(more)
        return Response(302, headers: headers)
    }

    /// Returns the answer with a refusal, whose parameters are in the order of the service.
    func response(_ refusal: Refusal, _ context: RequestContext) -> Response {
        var fields = [
            ("error", context.error(of: refusal)), ("error_description", context.description(of: refusal)),
        ]
        if context.configuration.profile.isEntra { fields.append(("error_uri", refusal.entra.uri)) }
        if let state { fields.append(("state", state)) }
        return response(fields)
    }
}

extension Client {
    /// Whether answers may go to a URI: to a registered one, and if `http://localhost` is registered, to every port and path
    /// of the loopback (RFC 8252 section 7.3) unless the URI has to be registered exactly.
    func accepts(_ uri: String, exactly: Bool = false) -> Bool {
        if redirectURIs.contains(where: { $0.isSame(as: uri) }) { return true }
        return !exactly && redirectURIs.contains("http://localhost") && WebAddress(ofNativeClient: uri) != nil
    }
}

extension WebAddress {
    /// A place of a native client, which a registered `http://localhost` means: on the loopback, without encryption, with any
    /// port and path; `nil` for every other text.
    init?(ofNativeClient uri: String) {
        guard let address = WebAddress(uri), !address.isEncrypted, address.isLoopback, !address.hasFragment else {
            return nil
        }
        self = address
    }
}

extension RequestContext {
    /// The code of the refusal (RFC 6749 sections 4.1.2.1 and 5.2), which is that of the service.
    func error(of refusal: Refusal) -> String {
        switch configuration.profile {
        case .b2c: refusal.error
        case .strict: refusal.standardError
        case .externalID, .entra: refusal.entra.error
        }
    }

    /// The refusal in the words of the service.
    func description(of refusal: Refusal) -> String {
        switch configuration.profile {
        case .b2c: refusal.description(correlation: correlation, now: now)
        case .strict: refusal.standardDescription
        case .externalID, .entra:
            refusal.entra.description(trace: GUID.random(), correlation: correlation, now: now)
        }
    }
}
