import Basics
import HTTP
import JSON

/// A request to one endpoint of one policy, or of a tenant that has none.
struct RequestContext: Sendable {
    let authority: TenantAuthority
    let head: RequestHead
    let url: EndpointURL
    /// The rows of the route table for the path, one or several.
    let rows: [AuthorityRoute<RequestContext>]
    let policy: Policy
    let run: TestRun
    /// Scheme and host, as the client sees them.
    let base: String
    let correlation: String
    let runName: String
    /// The tenants of External ID and Entra.
    let neighbours: [TenantAuthority]
    /// The id of the request, which Entra's errors and answers name.
    let trace = GUID.random()
    /// The key to which the client wants its access token bound.
    var confirmation: JSONObject?
    /// What a token request asks of the access token, in place of what the sign-in asked.
    var claims: RequestedClaims?

    var configuration: Configuration { authority.configuration }
    var provider: any Provider { authority.provider }
    var keys: KeyRing { authority.keys(in: run) }
    /// Seconds since 1970, by the clock of the test run.
    var now: Int64 { authority.now(in: run) }

    /// The correlation id of the client if it is a GUID, else a new one.
    static func correlation(of head: RequestHead) -> String {
        guard let given = head.headers["client-request-id"], GUID.canonical(given) != nil else { return GUID.random() }
        return given
    }

    /// The client of this id; none is registered for personal accounts, which `/consumers` means.
    func client(called id: String) throws(Refusal) -> Client {
        if url.tenant == SeveralTenants.consumers.rawValue { throw Refusal(.notForConsumers) }
        guard let client = configuration.applications.client(id) else {
            throw Refusal(.unknownClient, id, configuration.tenant.name)
        }
        return client
    }

    func address(of route: AuthorityRoute<RequestContext>) -> JSONValue {
        .string(url.url(of: route, policy: policy, base: base))
    }

    /// The fields of every response to a client library; MSAL4J warns without its id.
    var headers: FieldLines {
        var headers = FieldLines()
        if head.headers.contains("client-request-id") { headers.append("client-request-id", correlation) }
        if provider.traits.namesRequest {
            headers.append("x-ms-request-id", trace)
            headers.append("x-ms-ests-server", "2.1.0 - mock-authority")
        }
        allowOrigin(in: &headers)
        return headers
    }

    /// Lets the page that asks read the response, if its origin belongs to a registered redirect URI.
    private func allowOrigin(in headers: inout FieldLines) {
        headers.append("Vary", "Origin")
        guard let origin = head.headers["Origin"],
            configuration.applications.clients.contains(where: { $0.owns(origin: origin) })
        else { return }
        headers.append("Access-Control-Allow-Origin", origin)
    }

    var preflight: Response {
        var headers = headers
        if headers.contains("Access-Control-Allow-Origin") {
            headers.append("Access-Control-Allow-Methods", "GET, POST, OPTIONS")
            headers.append(
                "Access-Control-Allow-Headers",
                head.headers["Access-Control-Request-Headers"] ?? "authorization, content-type")
            headers.append("Access-Control-Max-Age", "600")
        }
        return Response(204, headers: headers)
    }
}

extension Client {
    /// Whether the origin is that of a redirect URI of the client; on the loopback, with any port.
    fileprivate func owns(origin: String) -> Bool {
        // An origin is a scheme, a host and perhaps a port, and nothing after them.
        guard let address = WebAddress(origin), address.text == origin, address.path.isEmpty, address.query == nil
        else { return false }
        return accepts(origin) || redirectURIs.contains { WebAddress($0)?.isSameOrigin(as: address) ?? false }
    }
}

/// A request to an endpoint of the host: a control, or what client libraries and browsers request without a policy.
struct HostContext: Sendable {
    let mock: MockAuthority
    let authority: TenantAuthority
    let run: TestRun
    let head: RequestHead
    /// The scheme and `Host` of the request itself, which are not those of the client behind a proxy.
    let asked: String
    /// Scheme and host, as the client sees them.
    let base: String

    var configuration: Configuration { authority.configuration }
    var keys: KeyRing { authority.keys(in: run) }

    func with(_ authority: TenantAuthority, _ run: TestRun) -> HostContext {
        HostContext(mock: mock, authority: authority, run: run, head: head, asked: asked, base: base)
    }
}

extension HostContext {
    /// Answers as Microsoft Graph, of the run that the query names.
    func graph(_ resource: GraphCall.Resource) async -> Response {
        let tenants = mock.others.compactMap { tenant in (try? tenant.runs.run(runName)).map { (tenant, $0) } }
        return await GraphCall(head: head, base: base, tenants: tenants).answer(about: resource)
    }
}

extension RequestContext {
    func graph(_ resource: GraphCall.Resource) async -> Response {
        await GraphCall(head: head, base: base, tenants: [(authority, run)]).answer(about: resource)
    }

    /// The decision, which is logged when its response is known.
    func logged(_ decision: Decision) -> Decision {
        guard case .readBody(let limit, let decide) = decision else { return logged(decision, body: []) }
        return .readBody(limit: limit) { logged(decide($0), body: $0) }
    }

    /// Notes the request and the status of its answer, so that tests can say what a client sent.
    ///
    /// The entry has everything, also secrets: they are the mock's own.
    private func logged(_ decision: Decision, body: [UInt8]) -> Decision {
        decision.map { response in
            let fields = head.headers.fields.map { field -> JSONValue in [.string(field.name), .string(field.value)] }
            run.recordedRequests.append([
                "at": .integer(now), "method": .string(head.method.name), "target": .string(head.target.raw),
                "headers": .array(fields), "body": .nonEmpty(String(decoding: body.prefix(16384), as: UTF8.self)),
                "status": .integer(Int64(response.status.rawValue)),
            ])
            return response
        }
    }
}
