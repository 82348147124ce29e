import Basics

extension Configuration {
    /// The tenants beside the B2C one, as this process plays them: all behave alike, and under High Scale Compatibility
    /// the External ID tenant is the B2C tenant (docs/reproduced.md, "High Scale Compatibility").
    var otherTenants: [Configuration] {
        entraTenants.map { other in
            var other = other
            other.behaviour = behaviour
            if other.profile == .externalID, behaviour.entra.highScaleCompatibility {
                other.tenant = tenant
                other.users = users
            }
            return other
        }
    }

    /// A tenant of External ID or Entra: it has no policies, only pages on which people sign in or up.
    init(_ profile: TenantProfile, tenant: Tenant, applications: Applications, users: [User]) {
        let page = Policy("", kind: .signUpOrSignIn)
        self.init(profile: profile, tenant: tenant, policies: [page], applications: applications, users: users)
    }

    /// The External ID tenant of the documentation: alice and bob have other object ids than in B2C, as after a
    /// migration by copying.
    package static let externalID = Configuration(
        .externalID, tenant: Tenant(name: "contoso.onmicrosoft.com", id: "4f5d1a2b-93c6-4e87-a1b0-2c3d4e5f6a7b"),
        applications: .externalID, users: User.defaults.map { $0.with(objectIDSuffix: "e1") })

    /// The Entra tenants of the documentation, which share one multi-tenant registration.
    package static let entra = [
        Configuration(
            .entra, tenant: Tenant(name: "fabrikam.onmicrosoft.com", id: "f4b51ca0-7d2e-4c3b-8a19-5e6f7d8c9b0a"),
            applications: .entra, users: User.defaults.map { $0.with(objectIDSuffix: "f4", domain: "fabrikam.com") }),
        Configuration(
            .entra, tenant: Tenant(name: "northwind.onmicrosoft.com", id: "0e7a5d3c-4b2f-4a61-9c8d-3f2e1d0c9b8a"),
            applications: .entra, users: User.defaults.map { $0.with(objectIDSuffix: "0e", domain: "northwind.com") }),
    ]
}

extension User {
    /// The same person in another tenant.
    fileprivate func with(objectIDSuffix suffix: String, domain: String? = nil) -> User {
        var user = self
        user.objectID = String(objectID.dropLast(suffix.count)) + suffix
        if let domain { user.email = "\(email.prefix { $0 != "@" })@\(domain)" }
        return user
    }
}

extension Applications {
    package static let externalID = ofMicrosoft(
        app: "2b7d9e41-5c8f-4a03-b6e1-0f9d8c7b6a5e", daemon: "d3e4f5a6-7b8c-4d9e-8f01-23456789abcd",
        api: "8c0e7f52-1b3a-4d69-9e8f-7a6b5c4d3e2f")

    package static let entra = ofMicrosoft(
        app: "6a1f8c3d-2e4b-4d5f-9a7c-8b6d5e4f3a2c", daemon: "7b2e9d4c-3f5a-4c6e-8b9d-0a1f2e3d4c5b",
        api: "1e9f8d7c-6b5a-4f3e-8d2c-1b0a9f8e7d6c")

    /// A public client, a daemon, and the API that both call, under the App ID URI that the portal proposes.
    ///
    /// The API is a client too, which asks for tokens on behalf of the people who call the API.
    private static func ofMicrosoft(app: String, daemon: String, api: String) -> Applications {
        Applications(
            clients: [
                Client(
                    id: app, name: "To-do app",
                    redirectURIs: ["http://localhost"] + Client.mobileRedirectURIs(app)),
                Client(id: daemon, name: "Daemon", secret: "mock-secret", redirectURIs: ["http://localhost"]),
                Client(id: api, name: "To-do API", secret: "mock-secret"),
            ], resources: [Resource(identifier: "api://\(api)", audience: api, scopes: ["Tasks.Read", "Tasks.Write"])])
    }
}

extension Tenant {
    /// The first label of the domain: `contoso`, the subdomain of `ciamlogin.com`.
    package var subdomain: String { String(name.prefix { $0 != "." }) }
}

extension Configuration {
    /// The host names of the External ID tenant, or of the one beside a B2C tenant: clients insist on them.
    package var hostNames: [String] {
        guard profile == .externalID else { return externalTenant?.hostNames ?? [] }
        return ["\(tenant.subdomain)\(EntraHost.customers)", "\(tenant.id)\(EntraHost.customers)"]
    }

    /// The External ID tenant as it is played; `nil` if there is none.
    package var externalTenant: Configuration? { otherTenants.first { $0.profile == .externalID } }

    /// The tenant of personal Microsoft accounts.
    static let personalTenant = "9188040d-6c67-4c5b-b112-36a304b66dad"

    /// `iss` of the v2 tokens and metadata of a tenant of External ID or Entra, of a request to this scheme and host.
    ///
    /// Never a slash at its end, unlike B2C's. An external tenant at login.microsoftonline.com has the issuer of that host.
    func entraIssuer(at base: String, tenant id: String? = nil) -> String {
        let id = id ?? tenant.id
        if behaviour.entra.issuerHost == .request { return "\(base)/\(id)/v2.0" }
        guard profile == .externalID, !EntraHost.isLogin(base: base) else { return "\(EntraHost.loginBase)/\(id)/v2.0" }
        return "https://\(id).ciamlogin.com/\(id)/v2.0"
    }
}

enum EntraHost {
    static let loginBase = "https://login.microsoftonline.com"
    static let customers = ".ciamlogin.com"
    /// The aliases of the public cloud.
    static let login = ["login.microsoftonline.com", "login.windows.net", "login.microsoft.com", "sts.windows.net"]

    static func isLogin(base: String) -> Bool { WebAddress(base).map { login.contains($0.host) } ?? false }
}
