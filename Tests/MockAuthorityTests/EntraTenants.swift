import HTTP
import JSON
@testable import MockAuthority
import OpenSSL

/// The tenants of External ID and Entra that tests talk to.
enum EntraTenants {
    static let external = Configuration.externalID
    static let fabrikam = Configuration.entra[0]
    static let northwind = Configuration.entra[1]
    /// The id of the external tenant.
    static let id = external.tenant.id
    static let client = external.applications.clients[0].id
    static let api = external.applications.resources[0].audience
    static let issuer = "https://\(id).ciamlogin.com/\(id)/v2.0"
    static let document = "v2.0/.well-known/openid-configuration"
    static let customers = "contoso.ciamlogin.com:8443"
}

extension TestAuthority {
    /// An authority that plays all three services.
    static func all(_ change: (inout EntraBehaviour) -> Void = { _ in }) -> TestAuthority {
        var configuration = Configuration.standard()
        configuration.moreHostNames = ["login.contoso.com"]
        change(&configuration.behaviour.entra)
        return TestAuthority(configuration)
    }

    /// The JSON answer to a GET of this host.
    func document(_ target: String, at host: String = "mock.test:3001") async throws -> JSONObject {
        try await ask(.get, target, host: host).json()
    }

    /// A token of the controls, taken apart.
    func issue(_ query: String) async throws -> Token {
        let text = try await get("/_mock/token?\(query)").text
        return try Token(text)
    }

    /// The keys of a set, by their names.
    func keys(at target: String) async throws -> [String: PublicKey] {
        try Self.publicKeys(in: .object(try await document(target)))
    }
}
