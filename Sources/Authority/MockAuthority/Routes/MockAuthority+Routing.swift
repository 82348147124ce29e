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
            if let context = try entraContext(head, base) { return await answer(context) }
            if let route = Routes.ofHost.first(where: { $0.matches(head.target.path) }) {
                return await route.handle(host)
            }
            return try await policyDecision(head, base) ?? .respond(notFound(head, base))
        } catch {
            return .respond(error.response)
        }
    }

    /// The origin for which a client asked a trusted proxy; `nil` if the peer is none.
    private func originOfProxy(_ head: RequestHead, _ scheme: String) -> String? {
        guard let peer = IPAddress(head.peer), configuration.trustedProxies.contains(where: { $0.contains(peer) })
        else { return nil }
        let origin = ForwardedOrigin(in: head.headers)
        guard let host = origin.host ?? head.headers["Host"] else { return nil }
        return "\(origin.scheme ?? scheme)://\(host)"
    }

    /// The answer of an endpoint of B2C; `nil` if there is no such tenant, policy or endpoint.
    private func policyDecision(_ head: RequestHead, _ base: String) async throws(UnknownRun) -> Decision? {
        let tenant = configuration.tenant
        guard let url = PolicyURL(head.target), let name = Tenant.run(of: url.tenant, names: [tenant.name, tenant.id])
        else { return nil }
        if let policy = url.policy.flatMap(configuration.policy(named:)) {
            let run = try b2c.runs.run(name)
            return await answer(
                RequestContext(authority: b2c, head: head, url: url, policy: policy, run: run, base: base))
        }
        guard head.method == .post, url.isTokenEndpointWithoutPolicy else { return nil }
        return decideByGrant(head, url, run: try b2c.runs.run(name), base: base)
    }

    func answer(_ context: RequestContext) async -> Decision {
        // A browser asks whether it may send a request before it does: only that one is of the endpoint.
        let isPreflight = context.head.method == .options
        let endpoint = isPreflight ? nil : context.url.routes.lazy.compactMap(\.fault).first
        guard let fault = endpoint.flatMap({ endpoint in context.run.faults.withLock { $0.take(endpoint) } }) else {
            return context.logged(await context.decide())
        }
        return context.logged(await fault.apply(context) { await context.decide() })
    }

    /// The request to a tenant of External ID or Entra; `nil` for one to the B2C tenant, or to none.
    ///
    /// A URL that names a policy is B2C's, except at the hosts of External ID.
    private func entraContext(_ head: RequestHead, _ base: String) throws(UnknownRun) -> RequestContext? {
        guard let url = PolicyURL(entra: head.target) else { return nil }
        let host = WebAddress(base)?.host ?? ""
        if head.target["p"] != nil, !host.hasSuffix(EntraHost.customers) { return nil }
        for authority in others {
            let configuration = authority.configuration
            guard let policy = configuration.policies.first,
                let name = configuration.entraName(of: url.tenant, at: host, beside: self.configuration.tenant)
            else { continue }
            return RequestContext(
                authority: authority, head: head, url: url.with(tenant: name.segment), policy: policy,
                run: try authority.runs.run(name.run), base: base)
        }
        return nil
    }

    /// The answer where there is no such tenant, policy or endpoint, in the form of the service of the host.
    func notFound(_ head: RequestHead, _ base: String) -> Response {
        let host = WebAddress(base)?.host ?? ""
        if host.hasSuffix(EntraHost.customers) || EntraHost.isLogin(base: base),
            let url = PolicyURL(entra: head.target),
            head.target["p"] == nil
        {
            let correlation = RequestContext.correlation(of: head)
            let error = EntraError.unknownTenant(url.tenant)
            let now = b2c.now(in: b2c.runs.unnamed)
            return Response.json(error.json(correlation: correlation, now: now), status: 400)
        }
        let (title, text) =
            if let url = PolicyURL(head.target) {
                (
                    "No such policy",
                    "AADB2C90022: Unable to return metadata for the policy '\(url.policy ?? "")' in tenant '\(url.tenant)'."
                )
            } else {
                (
                    "Not found",
                    "The mock authority has no such page. A tenant and a policy come first: "
                        + "/contoso.onmicrosoft.com/b2c_1_sign_in/\(Routes.metadata.path)"
                )
            }
        // Clients take a status from 500 on for an outage.
        return Page(title: title, content: "<p>\(text)</p>", status: 404).response
    }
}

extension RequestContext {
    fileprivate func decide() async -> Decision {
        if head.method == .options { return .respond(preflight) }
        return await url.routes.decide(head.method, self)
    }
}
