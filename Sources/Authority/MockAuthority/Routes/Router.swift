import Basics
import HTTP
import Synchronization

extension MockAuthority {
    /// Answers a request by its path, and where paths are alike, by its host (P-36).
    func route(_ head: RequestHead, _ scheme: String) async -> Decision {
        let asked = "\(scheme)://\(head.headers["Host"] ?? "127.0.0.1:3001")"
        let base = configuration.publicOrigin ?? originOfProxy(head, scheme) ?? asked
        let run = b2c.runs.unnamed
        let host = HostContext(mock: self, authority: b2c, run: run, head: head, asked: asked, base: base)
        if let refusal = host.refusalOfName { return .respond(refusal) }
        do throws(UnknownRun) {
            if head.target.path.first == "_mock" { return try await control(host) }
            if let decision = try await decision(of: head, base) { return decision }
            let rows = (Routes.ofHost + Routes.ofGraph).filter { $0.matches(head.target.path) }
            if !rows.isEmpty { return await rows.decide(head.method, host) }
            return .respond(notFound(head, base))
        } catch {
            return .respond(error.response.openToAll)
        }
    }

    /// The origin for which a client asked a trusted proxy; `nil` if the peer is none.
    private func originOfProxy(_ head: RequestHead, _ scheme: String) -> String? {
        guard let peer = IPAddress(head.peer), configuration.trustedProxies.contains(peer) else { return nil }
        let origin = ForwardedOrigin(in: head.headers)
        guard let host = origin.host ?? head.headers["Host"] else { return nil }
        return "\(origin.scheme ?? scheme)://\(host)"
    }

    /// The answer of the first tenant that has the endpoint; `nil` if none has.
    ///
    /// The tenant of the policies is asked last, since the address of its token endpoint may name no policy.
    private func decision(of head: RequestHead, _ base: String) async throws(UnknownRun) -> Decision? {
        let host = WebAddress(base)?.host ?? ""
        for tenant in others + [b2c] {
            guard let place = tenant.provider.place(of: head.target, at: host, beside: b2c.configuration.tenant)
            else { continue }
            let rows = tenant.provider.routes.filter { $0.matches(place.path) }
            if rows.isEmpty { continue }
            @Sendable func context(_ policy: Policy, _ run: TestRun) -> RequestContext {
                RequestContext(
                    authority: tenant, head: head, url: place.url, rows: rows, policy: policy, run: run, base: base,
                    correlation: RequestContext.correlation(of: head), runName: place.run, neighbours: others)
            }
            if let policy = place.policy { return await answer(context(policy, try tenant.runs.run(place.run))) }
            guard head.method == .post, rows.contains(where: { $0.path == Routes.token.path }) else { return nil }
            let run = try tenant.runs.run(place.run)
            return decideByGrant(head, base) { policy in context(policy, run) }
        }
        return nil
    }

    /// Decides a token request whose URL names no policy: the policy is `p` of the body, else that of the grant.
    ///
    /// The sample for iOS with ADAL has versions that name the policy only in the authorization request.
    private func decideByGrant(
        _ head: RequestHead, _ base: String, _ context: @escaping @Sendable (Policy) -> RequestContext
    ) -> Decision {
        .readBody(limit: RequestHead.longestBody) { body in
            let parameters = Parameters(body: body, type: head.contentType)
            let grant = parameters["code"] ?? parameters["refresh_token"]
            let name = parameters["p"] ?? grant.flatMap { self.b2c.seal.open($0)?.binding.policy }
            guard let policy = name.flatMap(self.configuration.policy(named:)) else {
                return .respond(self.notFound(head, base))
            }
            return .later {
                // The body has been read already.
                let decision = await self.answer(context(policy))
                guard case .readBody(_, let decide) = decision else { return decision }
                return decide(body)
            }
        }
    }

    private func answer(_ context: RequestContext) async -> Decision {
        // A browser asks whether it may send a request before it does: only that one is of the endpoint.
        let isPreflight = context.head.method == .options
        let endpoint = isPreflight ? nil : context.rows.lazy.compactMap(\.fault).first
        guard let fault = endpoint.flatMap({ endpoint in context.run.faults.withLock { $0.take(endpoint) } }) else {
            return context.logged(await context.decide())
        }
        return context.logged(await fault.apply(context) { await context.decide() })
    }

    /// The answer where there is no such tenant, policy or endpoint, in the form of the service of the host.
    private func notFound(_ head: RequestHead, _ base: String) -> Response {
        let now = b2c.now(in: b2c.runs.unnamed)
        let answers = (others + [b2c]).lazy.compactMap { $0.provider.notFound(head, at: base, now: now) }
        return (answers.first ?? Response(404)).openToAll
    }
}

extension RequestContext {
    fileprivate func decide() async -> Decision {
        if head.method == .options { return .respond(preflight) }
        if let coding = head.headers["Content-Encoding"], !coding.isEqualIgnoringCase(to: "identity") {
            let text = "The mock reads no compressed bodies: send the body without Content-Encoding."
            return .respond(Response.text(text, status: 415).openToAll)
        }
        return await rows.decide(head.method, self)
    }
}

extension Response {
    /// The refusal, which a page of any origin may read: it says nothing of a person.
    fileprivate var openToAll: Response {
        var response = self
        response.headers.append("Access-Control-Allow-Origin", "*")
        return response
    }
}

struct Place {
    let url: EndpointURL
    let path: ArraySlice<String>
    /// `nil` if the policy is that of the grant.
    let policy: Policy?
    let run: String
}

/// The beginning of an endpoint's URL as the client wrote it, in which answers name the other endpoints
/// (docs/reproduced.md, "Addresses").
struct EndpointURL: Sendable {
    /// `tfp` or `te`, which the path of B2C may begin with.
    var prefix: String?
    let tenant: String
    var policy: String?
    /// Whether the policy is in the query, as `p`, or missing.
    var isPolicyInQuery = false

    /// The URL of an endpoint of B2C, and the rest of the path.
    static func ofPolicy(_ target: RequestTarget) -> (url: EndpointURL, rest: ArraySlice<String>)? {
        var rest = target.path[...]
        let prefix = ["tfp", "te"].contains(rest.first?.lowercased()) ? rest.popFirst() : nil
        guard let tenant = rest.popFirst(), let next = rest.first else { return nil }
        // In the place of these a policy has another name.
        let isInQuery = ["oauth2", "v2.0", "discovery", "openid"].contains(next.lowercased())
        let policy = isInQuery ? target["p"] : rest.popFirst()
        return (EndpointURL(prefix: prefix, tenant: tenant, policy: policy, isPolicyInQuery: isInQuery), rest)
    }

    /// The path of the pages: with a policy in the path, wherever this one has it.
    func pages(of policy: Policy) -> String {
        policy.name.isEmpty ? "/\(tenant)" : "/\(tenant)/\(policy.name.lowercased())"
    }

    /// The URL of another endpoint, in the form of this one; only tenants of B2C have policies with names.
    func url(of route: AuthorityRoute<RequestContext>, policy: Policy, base: String) -> String {
        let start = prefix.map { "\(base)/\($0)/\(tenant)" } ?? "\(base)/\(tenant)"
        if policy.name.isEmpty { return "\(start)/\(route.path)" }
        let name = policy.name.lowercased()
        return isPolicyInQuery ? "\(start)/\(route.path)?p=\(name)" : "\(start)/\(name)/\(route.path)"
    }
}
