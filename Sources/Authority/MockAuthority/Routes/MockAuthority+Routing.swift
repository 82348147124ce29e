import Basics
import HTTP

extension MockAuthority {
    /// Answers a request by its path, and where paths are alike, by its host (P-36).
    func route(_ head: RequestHead, _ scheme: String) async -> Decision {
        let base = "\(scheme)://\(head.headers["Host"] ?? "127.0.0.1:3001")"
        if head.target.path.first == "_mock" { return await control(head, base) }
        if let context = entraContext(head, base) { return await answer(context) }
        let host = HostContext(mock: self, authority: b2c, head: head, base: base)
        if let route = Routes.ofHost.first(where: { $0.matches(head.target.path) }) { return await route.handle(host) }
        if let url = PolicyURL(head.target), let run = configuration.tenant.run(of: url.tenant) {
            if let policy = url.policy.flatMap(configuration.policy(named:)) {
                return await answer(
                    RequestContext(
                        authority: b2c, head: head, url: url, policy: policy, run: b2c.runs.run(run), base: base))
            }
            if head.method == .post, url.isTokenEndpointWithoutPolicy {
                return decideByGrant(head, url, run: run, base: base)
            }
        }
        return .respond(notFound(head, base))
    }

    func answer(_ context: RequestContext) async -> Decision {
        // A browser asks whether it may send a request before it does: only that one is of the endpoint.
        let isPreflight = context.head.method == .options
        let endpoint = isPreflight ? nil : context.url.routes.lazy.compactMap(\.fault).first
        guard let fault = endpoint.flatMap(context.run.faults.take) else {
            return context.logged(await context.decide())
        }
        return context.logged(await fault.apply { await context.decide() })
    }

    /// The request to a tenant of External ID or Entra; `nil` for one to the B2C tenant, or to none.
    ///
    /// A URL that names a policy is B2C's, except at the hosts of External ID.
    private func entraContext(_ head: RequestHead, _ base: String) -> RequestContext? {
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
                run: authority.runs.run(name.run), base: base)
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
            let now = b2c.now(in: b2c.runs.run(""))
            return Response.json(error.json(correlation: correlation, now: now), status: 400)
        }
        return PolicyURL(head.target).map(NotFoundPage.noPolicy) ?? NotFoundPage.noEndpoint
    }
}

extension RequestContext {
    fileprivate func decide() async -> Decision {
        if head.method == .options { return .respond(preflight) }
        return await url.routes.decide(head.method, self)
    }
}
