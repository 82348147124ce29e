import Basics
import HTTP
import JSON
import OpenSSL

/// Why a configuration file or a request of a control was refused, for whoever wrote it.
package struct InputError: Error, Equatable, Sendable {
    package let message: String
    var status: Status = 400

    static let noKey = InputError(message: "A key could not be generated.", status: 500)

    var response: Response { Response.text(message, status: status) }

    /// The result of what needs keys, which may have to be generated first.
    static func needingKeys<Value>(
        _ make: () async throws(PrivateKeyError) -> Value
    ) async throws(InputError) -> Value {
        do throws(PrivateKeyError) {
            return try await make()
        } catch {
            throw .noKey
        }
    }
}

extension Configuration {
    /// Reads a configuration as JSON; what it does not name stays as it is without a file.
    ///
    /// Issuers begin with `issuerBase` if the file does not say. The first mistake is thrown, such as an unknown name.
    package init(parsing bytes: [UInt8], issuerBase: String = "http://127.0.0.1:3001") throws(InputError) {
        self = .standard(issuerBase: issuerBase)
        let file = try ConfigurationMember.root(bytes)
        try file.allow(["issuer", "policies", "externalID", "entra"] + Self.membersOfTenants)
        try readTenant(file)
        if let base = try file.text("issuer") { self.issuerBase = base }
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

    private mutating func readTenant(_ member: ConfigurationMember) throws(InputError) {
        if let named = try member.member("tenant") { tenant = try Tenant(named) }
        if let list = try member.list("policies") { policies = try list.map(Policy.init(member:)) }
        if let list = try member.list("clients") { applications.clients = try list.map(Client.init(member:)) }
        if let list = try member.list("resources") { applications.resources = try list.map(Resource.init(member:)) }
        if let list = try member.list("users") {
            users = try list.map { member throws(InputError) in try User(member: member) }
        }
    }

    static let b2c: Configuration = ofDocumentation("b2c")

    /// A tenant of the documentation, which Static/tenants.json has.
    static func ofDocumentation(_ name: String, _ profile: TenantProfile = .b2c) -> Configuration {
        var tenant = Configuration(
            profile: profile, tenant: Tenant(name: "", id: ""), policies: [Policy("", kind: .signUpOrSignIn)],
            applications: Applications(clients: [], resources: []), users: [])
        do throws(InputError) {
            let file = try ConfigurationMember.root(PackageResources.tenants_json, place: "tenants.json")
            if let member = try file.member(name) { try tenant.readTenant(member) }
            return tenant
        } catch {
            preconditionFailure(error.message)
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
        try member.allow([
            "id", "name", "secret", "certificates", "federatedCredentials", "redirectURIs", "singlePage", "consent",
        ])
        let texts = try member.texts("certificates")
        let certificates = try texts.filter { $0 != ClientCertificate.kept }.map { text throws(InputError) in
            if let certificate = ClientCertificate(text) { return certificate }
            throw InputError(
                message: "A certificate is PEM of an RSA key, 40 or 64 hexadecimal digits of its hash, or client.pem.")
        }
        self.init(
            id: try member.required("id"), name: try member.text("name") ?? "", secret: try member.text("secret"),
            certificates: certificates,
            federatedCredentials: try member.list("federatedCredentials")?.map(FederatedCredential.init(member:)) ?? [],
            hasKeptCertificate: texts.contains(ClientCertificate.kept), redirectURIs: try member.texts("redirectURIs"),
            singlePage: try member.truth("singlePage"), consent: try member.choice("consent"))
    }
}

extension FederatedCredential {
    fileprivate init(member: ConfigurationMember) throws(InputError) {
        try member.allow(["issuer", "subject", "audience"])
        self.init(issuer: try member.required("issuer"), subject: try member.required("subject"))
        if let audience = try member.text("audience") { self.audience = audience }
    }
}

extension Resource {
    fileprivate init(member: ConfigurationMember) throws(InputError) {
        try member.allow(["identifier", "audience", "scopes", "roles"])
        self.init(
            identifier: try member.required("identifier"), audience: try member.required("audience"),
            scopes: try member.texts("scopes"))
        guard let ofNames = try member.optionalObject("roles") else { return }
        let member = try ConfigurationMember(.object(ofNames), place: "'roles'")
        for name in ofNames.members.map(\.name) { roles[name] = try member.texts(name) }
    }
}

extension User {
    static let members = [
        "objectID", "email", "password", "name", "givenName", "familyName", "groups", "claims", "identityProvider",
        "disabled", "generation",
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

    mutating func change(by member: ConfigurationMember) throws(InputError) {
        try member.allow(Self.members)
        if try member.text("email") != nil { email = try member.required("email") }
        if let text = try member.text("password") { password = text }
        if let text = try member.text("name") { name.display = text }
        if let text = try member.text("givenName") { name.given = text }
        if let text = try member.text("familyName") { name.family = text }
        if let list = try member.optionalTexts("groups") { groups = list }
        if let object = try member.optionalObject("claims") { claims = object }
        if let provider = try member.text("identityProvider") { status.identityProvider = provider }
        if let disabled = try member.truth("disabled") { status.disabled = disabled }
    }

    var json: JSONValue {
        [
            "objectID": .string(objectID), "email": .string(email), "password": password.map { .string($0) },
            "name": .string(name.display), "givenName": .string(name.given), "familyName": .string(name.family),
            "groups": groups.isEmpty ? nil : .array(groups.map { .string($0) }), "claims": .object(claims),
            "identityProvider": status.identityProvider.map { .string($0) },
            "disabled": .boolean(status.disabled), "generation": .integer(status.generation),
        ]
    }
}

/// An object of a configuration, with its place for error messages.
struct ConfigurationMember {
    private let object: JSONObject
    private let place: String

    static func root(
        _ bytes: [UInt8], limits: JSONLimits = JSONLimits(), place: String = "the file"
    ) throws(InputError) -> ConfigurationMember {
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONValue(parsing: bytes, limits: limits)
        } catch {
            switch error {
            case .tooLong, .tooDeep: throw InputError(message: "The JSON is too long or too deep.")
            case .malformed(let reason, let offset):
                throw InputError(message: "Not JSON at byte \(offset): \(reason).")
            }
        }
        return try ConfigurationMember(value, place: place)
    }

    init(_ value: JSONValue, place: String) throws(InputError) {
        guard let object = value.object else { throw InputError(message: "\(place) must be a JSON object.") }
        self.object = object
        self.place = place
    }

    func allow(_ names: [String]) throws(InputError) {
        for member in object.members where !names.contains(member.name) {
            throw InputError(
                message: "\(place) has a member '\(member.name)'. Known: \(names.joined(separator: ", ")).")
        }
    }

    private func wrong(_ name: String, _ expected: String) -> InputError {
        InputError(message: "'\(name)' of \(place) must be \(expected).")
    }

    func text(_ name: String) throws(InputError) -> String? {
        guard let value = object[name], value != .null else { return nil }
        guard let text = value.string else { throw wrong(name, "a string") }
        return text
    }

    func required(_ name: String) throws(InputError) -> String {
        guard let text = try text(name), !text.isEmpty else { throw wrong(name, "a string that is not empty") }
        return text
    }

    /// The value of a member in another form; the closure gives `nil` for a value that is not as expected.
    private func value<Value>(
        _ name: String, _ expected: String, _ read: (JSONValue) -> Value?
    ) throws(InputError) -> Value? {
        guard let given = object[name] else { return nil }
        guard let value = read(given) else { throw wrong(name, expected) }
        return value
    }

    func truth(_ name: String) throws(InputError) -> Bool? { try value(name, "true or false") { $0.boolean } }

    /// Every number has bounds, so that no arithmetic with it overflows.
    func number(_ name: String, in range: ClosedRange<Int64>) throws(InputError) -> Int64? {
        try value(name, "a whole number from \(range.lowerBound) to \(range.upperBound)") { value in
            value.integer.flatMap { range.contains($0) ? $0 : nil }
        }
    }

    func optionalObject(_ name: String) throws(InputError) -> JSONObject? { try value(name, "an object") { $0.object } }

    func texts(_ name: String) throws(InputError) -> [String] { try optionalTexts(name) ?? [] }

    func optionalTexts(_ name: String) throws(InputError) -> [String]? {
        try value(name, "an array of strings") { value in
            let texts = value.array?.compactMap(\.string)
            return texts?.count == value.array?.count ? texts : nil
        }
    }

    func choice<Value: RawRepresentable & CaseIterable>(
        _ name: String
    ) throws(InputError) -> Value? where Value.RawValue == String {
        guard let text = try text(name) else { return nil }
        guard let value = Value(rawValue: text) else {
            throw wrong(name, "one of \(Value.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return value
    }

    func member(_ name: String) throws(InputError) -> ConfigurationMember? {
        guard let value = object[name] else { return nil }
        return try ConfigurationMember(value, place: "'\(name)'")
    }

    func list(_ name: String) throws(InputError) -> [ConfigurationMember]? {
        try value(name, "an array") { $0.array }?.enumerated().map { index, element throws(InputError) in
            try ConfigurationMember(element, place: "\(name)[\(index)]")
        }
    }
}
