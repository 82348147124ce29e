import Basics
import IssuerKeys
import Settings
import Tokens

/// The provider of a source, and the addresses of its keys.
struct ProviderSettings: Sendable {
    let address: WebAddress?
    let policies: [String]
    let metadata: [WebAddress]
    let issuer: String?
    let tenants: [String]
    let keyHosts: [String]
    private let algorithms: [SignatureAlgorithm]
    let certificates: String?
    let allowHTTP: Bool
    /// Whether the address of the provider is given and is none, which was reported already.
    private let hasMisreadAddress: Bool

    /// Reads the settings of the group that the reader is in; without a group, names are those of earlier versions.
    init(reading reader: inout SettingReader, named: Bool) {
        let mistakes = reader.mistakes.count
        let authority: WebAddress? = reader.optional(
            "AUTHORITY", .webAddress(example: "https://contoso.b2clogin.com/contoso.onmicrosoft.com"),
            help: "The tenant of Azure AD B2C, Entra External ID or Entra ID, such as https://contoso.ciamlogin.com or "
                + "https://contoso.b2clogin.com/contoso.onmicrosoft.com.")
        let listed: [String] = reader.list(
            "POLICIES", .policy,
            help: "The policies (user flows) whose tokens are accepted; only Azure AD B2C has them.")
        let pasted = authority.flatMap { MetadataAddress.tenantAndPolicy(ofAuthority: $0.text) }
        address = pasted?.tenant ?? authority
        // The policy at the end of an authority is accepted as if the list had it.
        let more = pasted.map { [$0.policy] } ?? []
        policies = listed + more.filter { !listed.contains(where: $0.isEqualIgnoringCase) }
        metadata = reader.list(
            "METADATA_URL", .webAddress(example: "https://id.example.com/.well-known/openid-configuration"),
            help: "OpenID metadata, instead of the authority and its policies, for any other provider. "
                + "Several only for one B2C tenant, one for each policy.")
        hasMisreadAddress = authority == nil && metadata.isEmpty && reader.mistakes.count > mistakes
        issuer = reader.optional(
            "ISSUER", .word("ISSUER", expected: "an issuer", example: "https://id.example.com/"),
            absence: "from the metadata", help: "The only issuer whose tokens are accepted.")
        tenants = reader.list(
            "TENANTS", .tenant,
            help:
                "For an authority of many tenants (organizations, common): the ids of those that may use this API, or *."
        )
        keyHosts = reader.list(
            "KEY_HOSTS", .host,
            help: "Hosts that keys may come from besides that of the metadata, such as www.googleapis.com.")
        algorithms = reader.list(
            "ALGORITHMS", .algorithm,
            help:
                "The signature algorithms of accepted tokens, of RS256, RS384, RS512, PS256, ES256, ES384 and EdDSA. Without "
                + "this setting, RS256 for Azure AD B2C, External ID and Entra ID, and all of them for other providers. A key "
                + "without alg is for the first that suits it.")
        certificates = reader.optional(
            "CA_FILE", .path, absence: "those of the system",
            help: "CA certificates (PEM) that are trusted for the authority.")
        allowHTTP = reader.value(
            named ? "ALLOW_HTTP" : "ALLOW_HTTP_AUTHORITY", .bool, default: "false",
            help:
                "Accepts http:// for an authority on another machine. Anyone on the network path can then forge tokens."
        )
    }

    /// Whether no setting names a provider.
    var isAbsent: Bool { address == nil && metadata.isEmpty && policies.isEmpty && !hasMisreadAddress }

    /// Whether there are policies, and no setting says whose.
    var lacksAuthority: Bool { address == nil && !policies.isEmpty && !hasMisreadAddress }

    var kind: ProviderKind {
        if !policies.isEmpty { return .b2c }
        if let address {
            let kind = ProviderKind(host: address.host)
            return kind == .other ? .microsoft : kind
        }
        guard let first = metadata.first else { return .other }
        return MetadataLocation(first.text)?.policy == nil ? ProviderKind(host: first.host) : .b2c
    }

    /// Whether the authority serves many tenants, and signs the tokens of all with its keys.
    var isOfManyTenants: Bool {
        guard kind == .microsoft, let tenant = (address ?? metadata.first)?.path.first else { return false }
        return ["common", "organizations"].contains { tenant.isEqualIgnoringCase(to: $0) }
    }

    /// The algorithms of the settings; without any RS256 at Microsoft, and elsewhere all, of which each key has one.
    var acceptedAlgorithms: [SignatureAlgorithm] {
        guard algorithms.isEmpty else { return algorithms }
        return kind == .other ? SignatureAlgorithm.allCases : [.rs256]
    }

    var acceptedTenants: AllowedTenants? {
        guard !tenants.isEmpty else { return nil }
        return AllowedTenants(
            listed: tenants.compactMap { GUID.canonical($0) }, isAny: tenants.contains { $0 == "*" })
    }
}

/// The kind of a provider, by its address, which decides how its tokens look.
enum ProviderKind: Sendable {
    /// Azure AD B2C, whose tokens name a policy.
    case b2c
    case externalID
    /// Entra ID, or an authority in Microsoft's form on a host of one's own.
    case microsoft
    case other

    init(host: String) {
        self =
            if host.hasSuffix(".ciamlogin.com") {
                .externalID
            } else if Self.hosts.contains(host) {
                .microsoft
            } else if host.split(separator: ".").dropLast().last == "b2clogin" {
                .b2c
            } else {
                .other
            }
    }

    /// Entra's hosts in the clouds of the world, as MSAL knows them.
    private static let hosts = [
        "login.microsoftonline.com", "login.microsoft.com", "login.windows.net", "sts.windows.net",
        "login.chinacloudapi.cn", "login.partner.microsoftonline.cn", "login.microsoftonline.us",
        "login.usgovcloudapi.net",
    ]
}

extension SettingKind where Value == SignatureAlgorithm {
    fileprivate static let algorithm = SettingKind(
        placeholder: "ALGORITHM", expected: "RS256, RS384, RS512, PS256, ES256, ES384 or EdDSA", example: "ES256"
    ) { SignatureAlgorithm(named: $0) }
}

extension SettingKind where Value == String {
    /// The name of a policy, which becomes part of a URL.
    fileprivate static let policy = SettingKind(
        placeholder: "POLICY", expected: "the name of a policy (letters, digits, _, - and .)", example: "b2c_1_sign_in"
    ) { text in
        let isPlain = text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "_-.".contains($0)) }
        return isPlain && !text.isEmpty ? text : nil
    }

    /// The GUID of a tenant, or `*` for every tenant.
    fileprivate static let tenant = SettingKind(
        placeholder: "ID", expected: "the id (GUID) of a tenant, or * for every one",
        example: "11112222-3333-4444-5555-666677778888"
    ) { text in text == "*" ? text : GUID.canonical(text) }

    /// A host without scheme, port and path.
    fileprivate static let host = SettingKind(
        placeholder: "HOST", expected: "the name of a host", example: "www.googleapis.com"
    ) { text in
        guard let address = WebAddress("https://\(text)"), address.path.isEmpty, address.query == nil else {
            return nil
        }
        return address.host.isSame(as: text.lowercasedASCII) ? address.host : nil
    }
}
