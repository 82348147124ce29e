package import Basics

/// Everything about an authority that does not change while it runs.
package struct Configuration: Sendable {
    package var profile = TenantProfile.b2c
    package var tenant = Tenant.contoso
    /// The beginning of issuers, which is fixed, while endpoints follow the `Host` of each request.
    ///
    /// So a browser and a container may reach the authority by different names and still see one issuer.
    package var issuerBase = "http://127.0.0.1:3001"
    /// The policies, in the order of the documentation.
    package var policies = Policy.defaults
    package var applications = Applications.defaults
    package var users = User.defaults
    package var behaviour = Behaviour()
    package var moreHostNames: [String] = []
    /// The origin that all addresses have, such as `https://auth.example.com`; nil if they follow each request.
    package var publicOrigin: String?
    /// The proxies that say under which address a client reached them.
    package var trustedProxies: [IPAddressRange] = []
    /// The settings of each kind of client (`client-settings --for`), for the scheme, host and port under which clients
    /// reach the authority.
    package var clientSettings: @Sendable (_ base: String) -> [(kind: String, text: String)] = { _ in [] }
    /// The tenants of External ID and Entra that the same process plays; their behaviour is this one's.
    package var entraTenants: [Configuration] = []

    /// The configuration for a first try, with the tenants of External ID and Entra beside the B2C one.
    package static func standard(issuerBase: String = "http://127.0.0.1:3001") -> Configuration {
        var configuration = Configuration(issuerBase: issuerBase)
        configuration.entraTenants = [externalID] + entra
        return configuration
    }

    /// The lifetime of refresh tokens in seconds, except those of pages.
    var refreshLifetime: Int64 { profile.isEntra ? behaviour.entra.refreshLifetime : behaviour.lifetimes.refresh }

    /// The policy of this name, in any case.
    package func policy(named name: String) -> Policy? {
        policies.first { $0.name.isEqualIgnoringCase(to: name) }
    }

    /// The value of `iss` in tokens of this policy.
    ///
    /// B2C's issuers have the id of the tenant, and a slash at their end. The issuer of a strict provider is the
    /// beginning of the address of its metadata (OpenID Connect Discovery 1.0 section 4.3).
    package func issuer(of policy: Policy) -> String {
        if profile == .strict { return "\(issuerBase)/\(tenant.name)/\(policy.name.lowercased())/v2.0" }
        return switch policy.issuer {
        case .tenant: "\(issuerBase)/\(tenant.id)/v2.0/"
        case .tfp: "\(issuerBase)/tfp/\(tenant.id)/\(policy.name.lowercased())/v2.0/"
        }
    }
}

/// A directory: its domain and its id.
package struct Tenant: Sendable, Equatable {
    /// The domain, as `contoso.onmicrosoft.com`.
    package var name: String
    package var id: String

    package static let contoso = Tenant(name: "contoso.onmicrosoft.com", id: "775527ff-9a37-4307-8b3d-cc311f58d925")

    /// The id of a tenant that there is not, for tokens with a defect.
    static let unknownID = "00000000-0000-4000-8000-000000000000"

    /// Whether a URL may name the tenant like this.
    func isCalled(_ name: String) -> Bool {
        name.isEqualIgnoringCase(to: self.name) || name.isEqualIgnoringCase(to: id)
    }
}

/// Lifetimes, and where the authority is more or less strict than the service.
package struct Behaviour: Sendable, Equatable {
    package var era = Era.current
    package var lifetimes = Lifetimes()
    /// Whether redirect URIs and secrets go unchecked.
    package var lax = false
    /// Whether a refresh token works once only.
    package var strictRefresh = false
    /// Whether `/_mock` answers other machines.
    package var remoteControl = false
    package var entra = EntraBehaviour()

    /// The behaviour of the service.
    package init() {}

    /// In seconds.
    package struct Lifetimes: Sendable, Equatable {
        /// From the issue of a token to its `exp`.
        package var token: Int64 = 3600
        package var code: Int64 = 300
        package var refresh: Int64 = 1_209_600
    }
}

package struct EntraBehaviour: Sendable, Equatable {
    package var issuerHost = IssuerHost.service
    /// Seconds from the `iat` of an access token to its `exp`; `nil` for a random time, as the service has it.
    package var tokenLifetime: Int64?
    /// The lifetime of a refresh token, in seconds.
    package var refreshLifetime: Int64 = 7_776_000
    /// Whether the password grant is one: external tenants have none.
    package var passwordGrant = false
    /// Whether External ID and B2C are one tenant with the same accounts.
    package var highScaleCompatibility = false

    /// The behaviour of the services.
    package init() {}
}
