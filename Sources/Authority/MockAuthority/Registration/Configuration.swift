/// Everything about an authority that does not change while it runs.
public struct Configuration: Sendable {
    /// The directory that it plays.
    public var tenant: Tenant
    /// What issuers begin with, fixed here while endpoints follow the `Host` of each request.
    ///
    /// So a browser and a container may reach the authority by different names and still see one issuer.
    public var issuerBase: String
    /// The policies, in the order of the documentation.
    public var policies: [Policy]
    /// The registered applications and the scopes of the API.
    public var applications: Applications
    /// The accounts that are there from the start.
    public var users: [User]
    /// Lifetimes and leniencies.
    public var behaviour: Behaviour

    /// A configuration of these parts; without any, the one of a first try on the own machine.
    public init(
        tenant: Tenant = .contoso, issuerBase: String = "http://127.0.0.1:3001", policies: [Policy] = Policy.defaults,
        applications: Applications = .defaults, users: [User] = User.defaults, behaviour: Behaviour = Behaviour()
    ) {
        self.tenant = tenant
        self.issuerBase = issuerBase
        self.policies = policies
        self.applications = applications
        self.users = users
        self.behaviour = behaviour
    }

    /// The policy of this name, in any case.
    public func policy(named name: String) -> Policy? {
        policies.first { $0.name.isEqualIgnoringCase(to: name) }
    }

    /// What `iss` says in tokens of this policy: always the tenant's id, always a slash at the end.
    public func issuer(of policy: Policy) -> String {
        switch policy.issuer {
        case .tenant: "\(issuerBase)/\(tenant.id)/v2.0/"
        case .tfp: "\(issuerBase)/tfp/\(tenant.id)/\(policy.name.lowercased())/v2.0/"
        }
    }
}

/// A directory: its domain and its id.
public struct Tenant: Sendable, Equatable {
    /// The domain, as `contoso.onmicrosoft.com`.
    public var name: String
    /// The GUID.
    public var id: String

    /// A tenant of this domain and id.
    public init(name: String, id: String) {
        self.name = name
        self.id = id
    }

    /// The tenant of the documentation.
    public static let contoso = Tenant(
        name: "contoso.onmicrosoft.com", id: "775527ff-9a37-4307-8b3d-cc311f58d925")

    /// Whether a URL may call the tenant so.
    func isCalled(_ name: String) -> Bool {
        name.isEqualIgnoringCase(to: self.name) || name.isEqualIgnoringCase(to: id)
    }
}

/// How long things live, and where the authority is kinder or harsher than the service.
public struct Behaviour: Sendable, Equatable {
    /// The years that are played.
    public var era = Era.current
    /// How long what is issued lives.
    public var lifetimes = Lifetimes()
    /// Seconds that `nbf` lies before now, for clients whose clocks are behind; the service uses 0.
    public var notBeforeSlack: Int64 = 0
    /// Whether the numbers of token replies are strings, as they were until 2016.
    public var numbersAsStrings = false
    /// Which doors are open.
    public var switches = Switches()

    /// As the service behaves.
    public init() {}

    /// In seconds.
    public struct Lifetimes: Sendable, Equatable {
        /// From the issue of a token to its `exp`.
        public var token: Int64 = 3600
        /// Of an authorization code.
        public var code: Int64 = 300
        /// Of a refresh token.
        public var refresh: Int64 = 1_209_600

        /// As the service has them.
        public init() {}
    }

    /// What can be turned on and off.
    public struct Switches: Sendable, Equatable {
        /// Whether redirect URIs and secrets go unchecked.
        public var lax = false
        /// Whether `client_credentials` is a grant.
        public var clientCredentials = true
        /// Whether a refresh token works once only.
        public var strictRefresh = false
        /// Whether loopback redirect URIs must match port and path.
        public var exactLoopback = false
        /// Whether `/_mock` answers other machines.
        public var remoteControl = false

        /// As the service behaves.
        public init() {}
    }
}
