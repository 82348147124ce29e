import Basics
package import HTTP

/// The header fields that every response has: safety, caching, correlation, other origins.
struct CommonHeaders: Sendable {
    private let origins: CrossOrigin

    private let ofAll: FieldLines
    /// The fields of answers with a person's data, and of errors in their place.
    ///
    /// Two people may share a cache, and the old iOS clients have one on disk (V-119; docs/internals/clients.md, "Answers").
    private let ofProtected: FieldLines
    /// The fields of the page, which may use its own files and the answers of the authority.
    ///
    /// The page shares no window with pages of other origins, since it signs in by redirect.
    private let ofFiles: FieldLines

    init(_ configuration: TaskAPIConfiguration) {
        origins = configuration.origins
        ofAll = origins.marking(["X-Content-Type-Options": "nosniff"])
        ofProtected = origins.marking([
            "X-Content-Type-Options": "nosniff", "Cache-Control": "private, no-store",
            "Vary": "Authorization, Accept, Accept-Encoding",
        ])
        ofFiles = origins.marking([
            "X-Content-Type-Options": "nosniff",
            "Content-Security-Policy": Self.contentSecurityPolicy(authority: configuration.page.authority),
            "Referrer-Policy": "no-referrer",
            "Cross-Origin-Opener-Policy": "same-origin",
        ])
    }

    func add(to response: inout Response, for request: APIRequest) {
        let head = request.head
        response.headers.append("X-Request-Id", head.identifier)
        if request.match.definition.isProtected {
            response.headers.append(ofProtected)
        } else {
            response.headers.append(request.match.route == .file ? ofFiles : ofAll)
        }
        if let rate = request.rate { response.headers.append(rate.fields) }
        if let origin = head.headers["Origin"] { origins.allow(origin, in: &response.headers) }
        if head.headers["return-client-request-id"] == "true",
            let identifier = head.headers["client-request-id"].flatMap({ CorrelationIdentifier.cleaned($0) })
        {
            response.headers.append("client-request-id", identifier)
        }
    }

    /// The answer to `OPTIONS`, of any path and without a token: the methods of the path, and for a preflight the
    /// fields that a page may send.
    func options(_ head: RequestHead, allowed methods: [Method]) -> Response {
        var response = Response(204)
        let list = (methods + [.options]).map(\.name).joined(separator: ", ")
        response.headers.append("Allow", list)
        if head.headers.contains("Origin"), head.headers.contains("Access-Control-Request-Method") {
            response.headers.append("Access-Control-Allow-Methods", list)
            response.headers.append("Access-Control-Allow-Headers", Self.requestFields(head))
            response.headers.append("Access-Control-Max-Age", "600")
        }
        return response
    }

    /// The fields that a preflight asks for: any, because a field gives a page no right that its token does not give
    /// it, and no cookie goes with a request (the Fetch standard's `Access-Control-Allow-Credentials` is never sent).
    ///
    /// Tracing, proxies and libraries add fields of their own, so no list of them is ever complete.
    private static func requestFields(_ head: RequestHead) -> String {
        guard let asked = head.headers["Access-Control-Request-Headers"], asked.utf8.count <= 4096,
            asked.split(separator: ",", omittingEmptySubsequences: false)
                .allSatisfy({ $0.trimmingBlanks.utf8.span.isToken })
        else { return "Authorization, Content-Type" }
        return asked
    }

    private static func contentSecurityPolicy(authority: String) -> String {
        let origin = authority.originAndPath.origin
        let connect = origin.isEmpty ? "'self'" : "'self' \(origin)"
        return "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
            + "connect-src \(connect); manifest-src 'self'; base-uri 'none'; form-action 'none'; "
            + "frame-ancestors 'none'"
    }
}

extension CrossOrigin {
    /// Adds the field by which a cache keeps the answers to two origins apart, also one to a request without an origin.
    fileprivate func marking(_ headers: FieldLines) -> FieldLines {
        guard case .only(let known) = self, !known.isEmpty else { return headers }
        var headers = headers
        headers.append("Vary", "Origin")
        return headers
    }

    /// Adds the fields by which a page of this origin may read an answer.
    fileprivate func allow(_ origin: String, in headers: inout FieldLines) {
        switch self {
        case .any: add("*", to: &headers)
        case .only(let known):
            if let match = known.first(where: { $0.isSame(as: origin) }) { add(match, to: &headers) }
        }
    }

    /// Adds the same fields to the answer to a request that never reached the API.
    ///
    /// Where libmicrohttpd refuses a request itself, it may not have read the origin. Then the answer names the one
    /// origin that may call, or none where several may.
    package func allow(refused head: RequestHead?, in headers: inout FieldLines) {
        headers = marking(headers)
        if let origin = head?.headers["Origin"] { return allow(origin, in: &headers) }
        switch self {
        case .any: add("*", to: &headers)
        case .only(let known): if known.count == 1 { add(known[0], to: &headers) }
        }
    }

    private func add(_ allowed: String, to headers: inout FieldLines) {
        headers.append("Access-Control-Allow-Origin", allowed)
        headers.append("Access-Control-Expose-Headers", Self.answerFields)
    }

    private static let answerFields = """
        ETag, Link, Location, RateLimit, RateLimit-Policy, Retry-After, WWW-Authenticate, X-Request-Id, client-request-id
        """
}
