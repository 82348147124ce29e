import HTTP

/// The URL of an endpoint of a policy of B2C, in one of the forms of the service, or of a tenant of External ID or Entra
/// (docs/reproduced.md, "Addresses").
struct PolicyURL: Sendable {
    enum Form: Sendable, Equatable {
        /// `/T/P/...`
        case path
        /// `/T/...?p=P`
        case query
        /// `/T/...`, without a policy
        case tenant
    }

    /// `tfp` or `te`, as the client wrote it.
    let prefix: String?
    /// Domain or id, as the client wrote it; responses name it in the same form.
    private(set) var tenant: String
    /// As the client wrote it.
    let policy: String?
    let form: Form
    /// The rows of the route table for the path after tenant and policy; at least one.
    let routes: [AuthorityRoute<RequestContext>]

    init?(_ target: RequestTarget) {
        var rest = target.path[...]
        prefix = ["tfp", "te"].contains(rest.first?.lowercased()) ? rest.popFirst() : nil
        guard let tenant = rest.popFirst(), let next = rest.first else { return nil }
        self.tenant = tenant
        if Self.startsOfPaths.contains(next.lowercased()) {
            form = .query
            policy = target["p"]
        } else {
            form = .path
            policy = rest.popFirst()
        }
        routes = Routes.ofPolicies.filter { $0.matches(rest) }
        if routes.isEmpty { return nil }
    }

    /// The URL of an endpoint of External ID or Entra; `nil` if there is no such endpoint.
    init?(entra target: RequestTarget) {
        guard let tenant = target.path.first else { return nil }
        (prefix, self.tenant, policy, form) = (nil, tenant, nil, .tenant)
        routes = Routes.ofEntra.filter { $0.matches(target.path.dropFirst()) }
        if routes.isEmpty { return nil }
    }

    func with(tenant: String) -> PolicyURL {
        var url = self
        url.tenant = tenant
        return url
    }

    /// The path of the pages: with a policy in the path, whatever the form.
    func pages(of policy: Policy) -> String {
        form == .tenant ? "/\(tenant)" : "/\(tenant)/\(policy.name.lowercased())"
    }

    /// In this place a policy has another name.
    private static let startsOfPaths = ["oauth2", "v2.0", "discovery", "openid"]

    /// The URL of another endpoint, in the form of this one.
    func url(of route: AuthorityRoute<RequestContext>, policy: Policy, base: String) -> String {
        let start = prefix.map { "\(base)/\($0)/\(tenant)" } ?? "\(base)/\(tenant)"
        let name = policy.name.lowercased()
        return switch form {
        case .path: "\(start)/\(name)/\(route.path)"
        case .query: "\(start)/\(route.path)?p=\(name)"
        case .tenant: "\(start)/\(route.path)"
        }
    }
}
