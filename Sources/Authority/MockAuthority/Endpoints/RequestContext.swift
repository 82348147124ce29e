import Basics
internal import HTTP
internal import Synchronization

/// A request to one endpoint of one policy, with everything that answers need.
struct RequestContext: Sendable {
    /// Who is asked.
    let authority: MockAuthority
    /// What was asked.
    let head: RequestHead
    /// Where.
    let address: PolicyURL
    /// Of which policy.
    let policy: Policy
    /// In which run.
    let run: TestRun
    /// Scheme and host, as the client sees them.
    let base: String

    var configuration: Configuration { authority.configuration }
    /// Seconds since 1970 by the clock of the run.
    var now: Int64 { authority.now(in: run) }

    /// The correlation id of the client, if it is a GUID, else one of ours.
    var correlation: String {
        guard let given = head.headers["client-request-id"], given.utf8.count == 36,
            given.utf8.allSatisfy({ $0 == UInt8(ascii: "-") || $0.hexadecimalValue != nil })
        else { return GUID.random() }
        return given
    }

    /// The fields that every answer to a client library carries (MSAL4J warns without its id).
    var headers: HeaderFields {
        var headers = HeaderFields()
        if head.headers.contains("client-request-id") { headers.append("client-request-id", correlation) }
        if let origin = head.headers["Origin"] { headers = CrossOrigin.allow(origin, in: self, headers) }
        return headers
    }
}

/// Who may read answers from a page of another origin.
enum CrossOrigin {
    /// Adds the permission, if the origin belongs to a registered redirect URI.
    static func allow(_ origin: String, in context: RequestContext, _ headers: HeaderFields) -> HeaderFields {
        var headers = headers
        headers.append("Vary", "Origin")
        let clients = context.configuration.applications.clients
        guard clients.contains(where: { $0.owns(origin: origin) }) else { return headers }
        headers.append("Access-Control-Allow-Origin", origin)
        return headers
    }

    /// The answer to a preflight.
    static func preflight(_ context: RequestContext) -> Response {
        var headers = context.headers
        if headers.contains("Access-Control-Allow-Origin") {
            headers.append("Access-Control-Allow-Methods", "GET, POST, OPTIONS")
            headers.append(
                "Access-Control-Allow-Headers",
                context.head.headers["Access-Control-Request-Headers"] ?? "authorization, content-type")
            headers.append("Access-Control-Max-Age", "600")
        }
        return Response(204, headers: headers)
    }
}

extension Client {
    /// Whether a page of this origin is the client's: the origin of one of its redirect URIs, loopback with any port.
    fileprivate func owns(origin: String) -> Bool {
        redirectURIs.contains { uri in
            guard uri.hasPrefix("http") else { return false }
            if uri == "http://localhost" { return Self.isLoopback(origin: origin) }
            return uri == origin || uri.hasPrefix(origin + "/")
        }
    }

    /// `http://localhost` stands for every name and port of the loopback, here as for redirects.
    private static func isLoopback(origin: String) -> Bool {
        guard let address = WebAddress(origin), !address.isEncrypted, address.text == origin else { return false }
        return address.isLoopback && address.path.isEmpty && address.query == nil && !address.hasFragment
    }
}
