import Basics
import JSON

/// Why a configuration file or a request of a control was refused, for whoever wrote it.
package struct InputError: Error, Equatable, Sendable {
    package let message: String

    static let noKey = InputError(message: "A key could not be generated.")
}

extension Configuration {
    /// Reads a configuration as JSON; what it does not name stays as it is without a file.
    ///
    /// - Parameters:
    ///   - bytes: one object with any of `tenant`, `issuer`, `policies`, `clients`, `resources`, `users`, `externalID`,
    ///     `entra`.
    ///   - issuerBase: what issuers begin with if the file does not say.
    /// - Throws: the first error; an unknown name is one.
    package init(
        parsing bytes: [UInt8], issuerBase: String = "http://127.0.0.1:3001"
    ) throws(InputError) {
        self = .standard(issuerBase: issuerBase)
        let file = try ConfigurationMember.root(bytes)
        try file.allow(["issuer", "policies", "externalID", "entra"] + Self.membersOfTenants)
        try readTenant(file)
        if let base = try file.text("issuer") { self.issuerBase = base }
        if let list = try file.list("policies") { policies = try list.map(Policy.init(member:)) }
        if let member = try file.member("externalID") { entraTenants[0] = try Self.tenant(member, .externalID) }
        if let list = try file.list("entra") {
            let tenants = try list.map { member throws(InputError) in try Self.tenant(member, .entra) }
            entraTenants = entraTenants.prefix(1) + tenants
        }
        guard !policies.isEmpty, !applications.clients.isEmpty else {
            throw InputError(message: "There must be at least one policy and one client.")
        }
    }

    private static let membersOfTenants = ["tenant", "clients", "resources", "users"]

    /// A tenant of External ID or Entra; what it does not name stays as in the tenant of the documentation.
    private static func tenant(
        _ member: ConfigurationMember, _ profile: TenantProfile
    ) throws(InputError) -> Configuration {
        try member.allow(membersOfTenants)
        var configuration = profile == .externalID ? externalID : entra[0]
        try configuration.readTenant(member)
        guard !configuration.applications.clients.isEmpty else {
            throw InputError(message: "There must be at least one client.")
        }
        return configuration
    }

    /// Reads the members that a tenant of every service has.
    private mutating func readTenant(_ member: ConfigurationMember) throws(InputError) {
        if let named = try member.member("tenant") { tenant = try Tenant(named) }
        if let list = try member.list("clients") { applications.clients = try list.map(Client.init(member:)) }
        if let list = try member.list("resources") {
            applications.resources = try list.map(Resource.init(member:))
        }
        if let list = try member.list("users") {
            users = try list.map { member throws(InputError) in try User(member: member) }
        }
    }
}

extension Tenant {
    fileprivate init(_ member: ConfigurationMember) throws(InputError) {
        try member.allow(["name", "id"])
        self.init(name: try member.required("name"), id: try member.required("id"))
    }
}

extension Policy {
    fileprivate init(member: ConfigurationMember) throws(InputError) {
        try member.allow(["name", "kind", "issuer"])
        self.init(
            try member.required("name"), kind: try member.choice("kind") ?? .signUpOrSignIn,
            issuer: try member.choice("issuer") ?? .tenant)
    }
}

extension Client {
    fileprivate init(member: ConfigurationMember) throws(InputError) {
        try member.allow(["id", "name", "secret", "redirectURIs", "singlePage"])
        self.init(
            id: try member.required("id"), name: try member.text("name") ?? "", secret: try member.text("secret"),
            redirectURIs: try member.texts("redirectURIs"), singlePage: try member.truth("singlePage") ?? false)
    }
}

extension Resource {
    fileprivate init(member: ConfigurationMember) throws(InputError) {
        try member.allow(["identifier", "audience", "scopes"])
        self.init(
            identifier: try member.required("identifier"), audience: try member.required("audience"),
            scopes: try member.texts("scopes"))
    }
}

extension User {
    /// The members of an account in files and in `/_mock/users`.
    static let members = [
        "objectID", "email", "password", "name", "givenName", "familyName", "claims", "identityProvider", "disabled",
        "generation",
    ]

    /// An account of these members; `email` is for those without one.
    init(member: ConfigurationMember, email fallback: String? = nil) throws(InputError) {
        try member.allow(Self.members)
        var email = try member.text("email") ?? fallback ?? ""
        if email.isEmpty { email = try member.required("email") }
        let objectID = try member.text("objectID")?.lowercased() ?? GUID.random()
        self.init(objectID: objectID, email: email, password: nil, name: PersonName(display: email))
        try change(by: member)
        status.generation = try member.number("generation", in: 0...(1 << 53)) ?? 0
    }

    /// Puts the members of a body in the place of the account's own.
    mutating func change(by member: ConfigurationMember) throws(InputError) {
        try member.allow(Self.members)
        if try member.text("email") != nil { email = try member.required("email") }
        if let text = try member.text("password") { password = text }
        if let text = try member.text("name") { name.display = text }
        if let text = try member.text("givenName") { name.given = text }
        if let text = try member.text("familyName") { name.family = text }
        if let object = try member.optionalObject("claims") { claims = object }
        if let provider = try member.text("identityProvider") { status.identityProvider = provider }
        if let disabled = try member.truth("disabled") { status.disabled = disabled }
    }

    /// The account under those members.
    var json: JSONValue {
        var members = JSONObject([("objectID", .string(objectID)), ("email", .string(email))])
        members["password"] = password.map { .string($0) }
        members["name"] = .string(name.display)
        members["givenName"] = .string(name.given)
        members["familyName"] = .string(name.family)
        members["claims"] = .object(claims)
        members["identityProvider"] = status.identityProvider.map { .string($0) }
        members["disabled"] = .boolean(status.disabled)
        members["generation"] = .integer(status.generation)
        return .object(members)
    }
}
