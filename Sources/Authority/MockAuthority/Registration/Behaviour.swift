import JSON

/// What a tenant plays: a service of Microsoft (docs/reproduced.md), or an OpenID provider that follows the standards.
package enum TenantProfile: String, Sendable, CaseIterable {
    case b2c
    /// Entra External ID: external tenants, at ciamlogin.com.
    case externalID = "external-id"
    /// Entra ID: workforce tenants, at login.microsoftonline.com.
    case entra
    /// An OpenID provider without Microsoft's deviations (docs/mock-authority.md, "An OpenID provider by the
    /// standards").
    case strict
}

package enum Persona: String, Sendable, CaseIterable {
    case microsoft
    case strict
}

extension Configuration {
    /// Lets the tenant of the policies play a persona.
    ///
    /// The strict one has no tenants of Microsoft beside it, and one policy, `strict`, unless others are configured:
    /// libraries take a policy whose name begins with `b2c_` for B2C's.
    package mutating func play(_ persona: Persona) {
        guard persona == .strict else { return }
        profile = .strict
        entraTenants = []
        if policies == Policy.defaults { policies = [Policy("strict", kind: .signUpOrSignIn)] }
    }
}

package enum IssuerHost: String, Sendable, CaseIterable {
    /// `https://G.ciamlogin.com/G/v2.0` and `https://login.microsoftonline.com/G/v2.0`, wherever the mock listens.
    case service
    /// The host of each request, for clients that insist on one host for metadata and issuer.
    case request
}

/// The period of the service that is reproduced, since old clients read old responses (docs/reproduced.md, "Eras").
package enum Era: String, Sendable, CaseIterable {
    /// The preview of 2015: policies in `acr`, a constant `sub`, an ID token always, keys named after a container.
    case preview2015
    /// 2016 to 2018: policies in `tfp`, a constant `sub`, numbers as strings.
    case classic
    case current

    func subject(_ objectID: String) -> String {
        self == .current ? objectID : "Not supported currently. Use oid claim."
    }

    /// The name and the value of the claim in which a token carries its policy.
    func policyClaim(_ policy: Policy) -> (name: String, value: String) {
        self == .preview2015 ? ("acr", policy.name.lowercased()) : ("tfp", policy.name)
    }

    /// Whether every response has an ID token, which clients then sent as the bearer token.
    var identifiesAlways: Bool { self == .preview2015 }

    func number(_ value: Int64) -> JSONValue { self == .current ? .integer(value) : .string(String(value)) }

    func keyName(_ number: Int) -> String? {
        guard self == .preview2015 else { return nil }
        return number == 1 ? "IdTokenSigningKeyContainer" : "IdTokenSigningKeyContainer.v\(number)"
    }
}
