import Basics

/// The clients that are registered with the tenant, and the APIs that they call.
package struct Applications: Sendable, Equatable {
    package var clients: [Client]
    package var resources: [Resource]

    /// The client of this id, in any case: ADAL sends it in lower case whatever the configuration says.
    package func client(_ id: String) -> Client? { clients.first { $0.id.isEqualIgnoringCase(to: id) } }

    /// One public client that is its own API, and one confidential client.
    package static let defaults: Applications = Configuration.b2c.applications
}

/// A registered client; with a secret, a certificate or a federated credential it is a confidential one.
package struct Client: Sendable, Equatable {
    package var id: String
    /// The name that the page for developers shows in place of the id.
    package var name = ""
    package var secret: String?
    /// The certificates whose keys sign assertions of the client, in place of a secret.
    package var certificates: [ClientCertificate] = []
    /// The issuers whose tokens are assertions of the client.
    package var federatedCredentials: [FederatedCredential] = []
    /// Whether it has the certificate that the state folder keeps.
    var hasKeptCertificate = false
    /// The registered redirect URIs; the first is the default.
    package var redirectURIs: [String] = []
    /// Whether it runs in a browser only: PKCE is required, and its refresh tokens end a day after the sign-in, as they
    /// do for each client whose code was redeemed by a page.
    ///
    /// Where nothing is said, the client may be both: a page whose code another program cannot redeem is told by `true`.
    package var singlePage: Bool?
    /// Says whose consent the client's scopes need at Entra and External ID; nil if they are granted already.
    package var consent: Consent?

    package enum Consent: String, Sendable, CaseIterable {
        case user, admin
    }
}

extension Client {
    var title: String { name.isEmpty ? id : name }
    var isConfidential: Bool {
        secret != nil || hasKeptCertificate || !certificates.isEmpty || !federatedCredentials.isEmpty
    }

    /// Whether a code for this redirect URI is one of a page; `nil` if it may be.
    func isPage(at redirectURI: String) -> Bool? {
        if let singlePage { return singlePage }
        return isConfidential || WebAddress(redirectURI) == nil ? false : nil
    }
}

package struct Resource: Sendable, Equatable {
    /// The App ID URI, what its scopes begin with.
    package var identifier: String
    /// Its application id: `aud` of its access tokens.
    package var audience: String
    package var scopes: [String]
    /// The app roles of clients, by their ids, and of users, by their addresses.
    package var roles: [String: [String]] = [:]
    /// The scopes as clients ask for them.
    package var fullScopes: [String] { scopes.map { "\(identifier)/\($0)" } }
}
