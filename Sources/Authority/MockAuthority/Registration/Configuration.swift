package import Basics

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
    /// Fetches the metadata and keys of an issuer of client assertions; nil if that failed.
    package var fetch: @Sendable (_ url: String) async -> [UInt8]? = { _ in nil }
    /// The tenants of External ID and Entra that the same process plays; their behaviour is this one's.
    package var entraTenants: [Configuration] = []

    /// The configuration for a first try, with the tenants of External ID and Entra beside the B2C one.
    package static func standard(issuerBase: String = "http://127.0.0.1:3001") -> Configuration {
        var configuration = Configuration(issuerBase: issuerBase)
        configuration.entraTenants = [externalID] + entra
        return configuration
    }

    /// The policy of this name, in any case.
    package func policy(named name: String) -> Policy? { policies.first { $0.name.isEqualIgnoringCase(to: name) } }

    /// The value of `iss` in tokens of this policy.
    package func issuer(of policy: Policy) -> String { provider.issuer(of: policy, at: issuerBase) }
}

/// A directory: its domain and its id.
package struct Tenant: Sendable, Equatable {
    package var name: String
    package var id: String

    package static let contoso: Tenant = Configuration.b2c.tenant

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
    /// The seconds from the issue of a token to its `exp`.
    package var tokenLifetime: Int64 = 3600
    /// Whether redirect URIs and secrets go unchecked.
    package var lax = false
    /// Whether a refresh token works once only.
    package var strictRefresh = false
    /// Whether `/_mock` answers other machines.
    package var remoteControl = false
    package var entra = EntraBehaviour()

    package init() {}
}

package struct EntraBehaviour: Sendable, Equatable {
    package var issuerHost = IssuerHost.service
    /// Seconds from the `iat` of an access token to its `exp`; `nil` for a random time, as the service has it.
    package var tokenLifetime: Int64?
    /// Whether the password grant is one: external tenants have none.
    package var passwordGrant = false
    /// Whether External ID and B2C are one tenant with the same accounts.
    package var highScaleCompatibility = false

    package init() {}
}

/// A user flow: what a person does there, and what its tokens say.
package struct Policy: Sendable, Equatable {
    /// What happens on the pages of a policy.
    package enum Kind: String, Sendable, CaseIterable {
        case signUp = "sign-up"
        case signIn = "sign-in"
        case signUpOrSignIn = "sign-up-or-sign-in"
        case editProfile = "edit-profile"
        case resetPassword = "reset-password"
        case facebook
        case password
    }

    package enum Issuer: String, Sendable, CaseIterable {
        /// `<base>/<tenant id>/v2.0/`, the default of the service.
        case tenant
        /// `<base>/tfp/<tenant id>/<policy>/v2.0/`, which clients need that compare issuer and URL.
        case tfp
    }

    /// The name as defined, and as `tfp` carries it; URLs have it in lower case.
    package var name: String
    package var kind: Kind
    package var issuer: Issuer

    package init(_ name: String, kind: Kind, issuer: Issuer = .tenant) {
        self.name = name
        self.kind = kind
        self.issuer = issuer
    }

    /// Whether this policy is made for the password grant; no other policy of B2C allows that grant.
    var allowsPasswordGrant: Bool { kind == .password }

    /// The policies of the sample clients (docs/internals/clients.md, "Credentials"), and those to reset a password
    /// and for the password grant.
    package static let defaults: [Policy] = Configuration.b2c.policies
}

extension Configuration {
    /// The tenants of External ID and Entra ID, with the behaviour of this configuration.
    ///
    /// Under High Scale Compatibility, the one of External ID also has the tenant and the accounts of B2C
    /// (docs/reproduced.md, "High Scale Compatibility").
    var otherTenants: [Configuration] {
        entraTenants.map { other in
            var other = other
            (other.behaviour, other.fetch) = (behaviour, fetch)
            if other.profile == .externalID, behaviour.entra.highScaleCompatibility {
                other.tenant = tenant
                other.users = users
            }
            return other
        }
    }

    /// The External ID tenant of the documentation: alice and bob have other object ids than in B2C, as after a
    /// migration by copying.
    package static let externalID: Configuration = ofDocumentation("externalID", .externalID)

    /// The Entra tenants of the documentation, which share one multi-tenant registration.
    package static let entra: [Configuration] = [
        ofDocumentation("fabrikam", .entra), ofDocumentation("northwind", .entra),
    ]

    /// With the certificate of the state folder for the client that has it.
    func with(_ certificate: ClientCertificate) -> Configuration {
        var configuration = self
        for (index, client) in applications.clients.enumerated() where client.hasKeptCertificate {
            configuration.applications.clients[index].certificates.append(certificate)
        }
        return configuration
    }

    /// The External ID tenant as it is played; `nil` if there is none.
    package var externalTenant: Configuration? { otherTenants.first { $0.profile == .externalID } }

    /// The host names of the External ID tenant, on which clients insist.
    package var hostNames: [String] {
        externalTenant.map { [$0.tenant.subdomain, $0.tenant.id].map { "\($0)\(EntraHost.customers)" } } ?? []
    }
}

extension Tenant {
    /// The first label of the domain: `contoso`, the subdomain of `ciamlogin.com`.
    package var subdomain: String { String(name.prefix { $0 != "." }) }
}
