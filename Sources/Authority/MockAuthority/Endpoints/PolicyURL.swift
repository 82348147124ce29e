internal import HTTP

/// Where a request goes: endpoint, tenant and policy, in one of the URL forms of the service.
struct PolicyURL: Sendable, Equatable {
    /// Where the policy stands.
    enum Form: Sendable, Equatable {
        /// `/T/P/...`
        case path
        /// `/T/...?p=P`
        case query
    }

    /// What there is behind tenant and policy.
    enum Endpoint: Sendable, Equatable {
        case metadata, keys, authorize, token, logout, userInfo
        case page, selfAsserted
        case confirmed(api: String)
    }

    /// `tfp` or `te`, as asked.
    let prefix: String?
    /// Domain or id, as asked; answers name it in the same form.
    let tenant: String
    /// The policy, as asked.
    let policy: String?
    /// Where it stood.
    let form: Form
    /// What is asked there.
    let endpoint: Endpoint

    /// Takes a target apart; nothing if there is no such endpoint.
    init?(_ target: RequestTarget) {
        var rest = target.path[...]
        prefix = ["tfp", "te"].contains(rest.first?.lowercased()) ? rest.popFirst() : nil
        guard let tenant = rest.popFirst(), let next = rest.first else { return nil }
        self.tenant = tenant
        if ["oauth2", "v2.0", "discovery", "openid"].contains(next.lowercased()) {
            form = .query
            policy = target["p"]
        } else {
            form = .path
            policy = rest.popFirst()
        }
        guard let endpoint = Endpoint(path: Array(rest)) else { return nil }
        self.endpoint = endpoint
    }

    /// The URL of another endpoint in the form in which this one was asked, behind this scheme and host.
    func url(_ path: String, policy: Policy, base: String) -> String {
        let front = prefix.map { "\(base)/\($0)/\(tenant)" } ?? "\(base)/\(tenant)"
        let name = policy.name.lowercased()
        return switch form {
        case .path: "\(front)/\(name)/\(path)"
        case .query: "\(front)/\(path)?p=\(name)"
        }
    }
}

extension PolicyURL.Endpoint {
    /// The endpoint of the segments behind tenant and policy, in any case.
    fileprivate init?(path: [String]) {
        switch path.map({ $0.lowercased() }) {
        case ["v2.0", ".well-known", "openid-configuration"]: self = .metadata
        case ["discovery", "v2.0", "keys"]: self = .keys
        case ["oauth2", "v2.0", "authorize"]: self = .authorize
        case ["oauth2", "v2.0", "token"]: self = .token
        case ["oauth2", "v2.0", "logout"]: self = .logout
        case ["openid", "v2.0", "userinfo"]: self = .userInfo
        case ["signin"]: self = .page
        case ["selfasserted"]: self = .selfAsserted
        case let path where path.count == 3 && path[0] == "api" && path[2] == "confirmed":
            self = .confirmed(api: path[1])
        default: return nil
        }
    }
}
