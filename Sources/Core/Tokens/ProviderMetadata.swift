import Basics
package import JSON

/// The metadata of a provider (OpenID Connect Discovery 1.0 section 3), as far as it is used here.
package struct ProviderMetadata: Sendable, Equatable {
    /// The longest document that is read, in bytes.
    package static let longest = 256 * 1024

    /// `issuer`: the `iss` of its tokens must have the same bytes.
    package let issuer: String
    /// `jwks_uri`: the address of its key set.
    package let keySetURL: String
    /// `cloud_instance_name`, which Microsoft's documents have: keys of another cloud are not used (P-8).
    package let cloud: String?
    /// `authorization_endpoint` and `token_endpoint`, which show the tenant if the address names it only by name (P-4).
    package let endpoints: [String]
    /// `id_token_signing_alg_values_supported`, which explains why a provider publishes no keys.
    package let algorithms: [String]

    /// Reads a document, or throws for the first member that is missing; ``check(against:)`` says whether to trust it.
    package init(parsing bytes: [UInt8]) throws(MetadataError) {
        let object = try rethrowing(as: { _ in MetadataError.notJSON }) { () throws(JSONError) in
            try StrictJSON.object(bytes, longest: Self.longest)
        }
        guard let issuer = object["issuer"]?.string, !issuer.isEmpty else { throw .missingIssuer }
        guard let keySetURL = object["jwks_uri"]?.string, !keySetURL.isEmpty else { throw .missingKeySetURL }
        self.init(
            issuer: issuer, keySetURL: keySetURL, cloud: object["cloud_instance_name"]?.string,
            endpoints: Self.endpointNames.compactMap { object[$0]?.string },
            algorithms: object[Self.algorithmsName]?.array?.compactMap(\.string) ?? [])
    }

    package init(
        issuer: String, keySetURL: String, cloud: String? = nil, endpoints: [String] = [], algorithms: [String] = []
    ) {
        self.issuer = issuer
        self.keySetURL = keySetURL
        self.cloud = cloud
        self.endpoints = endpoints
        self.algorithms = algorithms
    }

    private static let endpointNames = ["authorization_endpoint", "token_endpoint"]
    private static let algorithmsName = "id_token_signing_alg_values_supported"

    /// Whether the provider signs with secrets only, so that there are no keys to publish.
    package var signsWithSecrets: Bool { !algorithms.isEmpty && algorithms.allSatisfy { $0.hasPrefix("HS") } }

    /// The members that are used here, as the document has them; reading them again gives an equal value.
    package var json: JSONObject {
        var object: JSONObject = ["issuer": .string(issuer), "jwks_uri": .string(keySetURL)]
        object["cloud_instance_name"] = cloud.map { .string($0) }
        if !algorithms.isEmpty { object[Self.algorithmsName] = .array(algorithms.map { .string($0) }) }
        guard endpoints.count == Self.endpointNames.count else { return object }
        for (name, endpoint) in zip(Self.endpointNames, endpoints) { object[name] = .string(endpoint) }
        return object
    }

    /// Checks whether the document may be trusted (V-74), and returns the reason for which its issuer is believed.
    @discardableResult
    package func check(against rules: MetadataRules) throws(MetadataError) -> IssuerBasis {
        guard let source = WebAddress(rules.metadataURL), rules.mayFetch(source) else { throw .insecureSource }
        guard rules.allowsTemplate || !IssuerTenant.isTemplate(issuer) else { throw .openTenant }
        let basis = try issuerBasis(rules, source)
        guard let keys = WebAddress(keySetURL) else { throw .malformedKeySetURL }
        guard rules.mayFetch(keys) else { throw .insecureKeySetURL }
        // A document fetched over TLS must not lead to keys that can be changed in transit.
        guard keys.isEncrypted || !source.isEncrypted else { throw .insecureKeySetURL }
        guard source.host.isSame(as: keys.host) || rules.keyHosts.contains(where: keys.host.isEqualIgnoringCase) else {
            throw .foreignKeySetURL
        }
        return basis
    }

    private func issuerBasis(_ rules: MetadataRules, _ source: WebAddress) throws(MetadataError) -> IssuerBasis {
        if let pinned = rules.pinnedIssuer {
            guard issuer.isSame(as: pinned) else { throw .unexpectedIssuer }
            return .pinned
        }
        guard let address = WebAddress(issuer) else { throw .malformedIssuer }
        guard rules.mayFetch(address) else { throw .insecureIssuer }
        let basis: IssuerBasis
        if address.isSameHost(as: source) {
            let isOwn = MetadataLocation(rules.metadataURL)?.owns(issuer: address) ?? false
            guard isOwn || !rules.demandsOwnIssuer else { throw .unrelatedIssuer }
            basis = .sameHost
        } else if !rules.demandsOwnIssuer || source.host.hasSuffix(".ciamlogin.com"),
            let tenant = IssuerTenant.of(address), issuer.isSame(as: IssuerTenant.issuerOfExternalID(tenant))
        {
            guard try isOfTenant(tenant, rules, source) else { throw .foreignTenant }
            return .derived
        } else if Self.areOneCloud(source.host, address.host) {
            basis = .derived
        } else {
            throw .foreignIssuer
        }
        guard let tenant = rules.tenantIdentifier.map(\.lowercasedASCII) else { return basis }
        let parts = issuer.lowercasedASCII.split(separator: "/")
        guard parts.contains(where: { $0.isSame(as: tenant) }) else { throw .foreignTenant }
        return basis
    }

    /// Returns whether a document may be of this tenant, though its issuer of External ID is on another host (P-4).
    ///
    /// The tenant must be the one in the address of the document. If the address has a name, the tenant must be the one
    /// in the document's endpoints, which are on its own host: any tenant's host ends in `.ciamlogin.com`. The host of
    /// a custom domain does not, so only an authority in the settings may have such a domain.
    private func isOfTenant(
        _ tenant: String, _ rules: MetadataRules, _ source: WebAddress
    ) throws(MetadataError) -> Bool {
        if let known = rules.tenantIdentifier.flatMap(GUID.canonical) { return known.isSame(as: tenant) }
        let guids = source.path.compactMap(GUID.canonical)
        guard guids.isEmpty else { return guids.contains { $0.isSame(as: tenant) } }
        let addresses = endpoints.compactMap { WebAddress($0) }
        guard addresses.count == Self.endpointNames.count, addresses.allSatisfy({ $0.isSameHost(as: source) }) else {
            throw .foreignIssuer
        }
        return addresses.allSatisfy { $0.path.first.flatMap(GUID.canonical)?.isSame(as: tenant) ?? false }
    }

    /// Returns whether these are the two hosts of China's cloud, which is asked at the first and names the second.
    private static func areOneCloud(_ host: String, _ issuerHost: String) -> Bool {
        host.isSame(as: "login.chinacloudapi.cn") && issuerHost.isSame(as: "login.partner.microsoftonline.cn")
    }
}

/// The facts about a provider that are known before its metadata is fetched.
package struct MetadataRules: Sendable, Equatable {
    package var metadataURL: String
    /// The issuer that the settings demand, if any; no other issuer is trusted then.
    package var pinnedIssuer: String?
    /// The GUID of the tenant, if it is known; the issuer must contain it.
    package var tenantIdentifier: String?
    /// Whether plain `http` is allowed from other hosts than the loopback.
    package var allowHTTP: Bool
    /// Whether the issuer must belong to the address (OpenID Connect Discovery 1.0 section 4.3), not only to its host.
    package var demandsOwnIssuer: Bool
    /// Other hosts than the document's from which keys may come (P-6).
    package var keyHosts: [String]
    /// Whether the issuer may leave the tenant open, because the settings list the tenants (P-5).
    package var allowsTemplate: Bool

    /// Creates rules for a document at this address; the defaults are the strictest.
    package init(
        metadataURL: String, pinnedIssuer: String? = nil, tenantIdentifier: String? = nil, allowHTTP: Bool = false,
        demandsOwnIssuer: Bool = true, keyHosts: [String] = [], allowsTemplate: Bool = false
    ) {
        self.metadataURL = metadataURL
        self.pinnedIssuer = pinnedIssuer
        self.tenantIdentifier = tenantIdentifier
        self.allowHTTP = allowHTTP
        self.demandsOwnIssuer = demandsOwnIssuer
        self.keyHosts = keyHosts
        self.allowsTemplate = allowsTemplate
    }

    /// Returns whether the scheme of the address is allowed.
    func mayFetch(_ address: WebAddress) -> Bool {
        address.isEncrypted || address.isLoopback || allowHTTP
    }
}

/// The reason for which the issuer in a document is believed (V-74, P-4, P-5).
package enum IssuerBasis: String, Sendable, Equatable {
    /// The settings name the issuer.
    case pinned
    /// The issuer is on the host of the document.
    case sameHost
    /// Microsoft has this issuer for the address of the document.
    case derived
}

/// Why a provider's metadata is not trusted: one case for each rule (V-74).
package enum MetadataError: Error, Equatable, Sendable, CaseIterable {
    case notJSON, missingIssuer, missingKeySetURL
    case insecureSource, unexpectedIssuer, malformedIssuer, insecureIssuer, foreignIssuer, unrelatedIssuer
    case foreignTenant, openTenant
    case malformedKeySetURL, insecureKeySetURL, foreignKeySetURL

    /// Returns the fault and its remedy in one sentence; `setting` makes `TASKS_ISSUER` or the like of `ISSUER`.
    package func message(_ setting: (String) -> String) -> String {
        switch self {
        case .notJSON: "The metadata is not one JSON object; check that the address is that of a metadata document."
        case .missingIssuer: "The metadata has no issuer; check that the address is that of a metadata document."
        case .missingKeySetURL: "The metadata has no jwks_uri; check that the address is that of a metadata document."
        case .insecureSource:
            "The metadata would come over plain http; use https, or allow http with \(setting("ALLOW_HTTP_AUTHORITY"))."
        case .unexpectedIssuer:
            "The metadata names another issuer than \(setting("ISSUER")); correct that setting or the address."
        case .malformedIssuer:
            "The issuer in the metadata is no https address; pin it with \(setting("ISSUER")) if it is right."
        case .insecureIssuer:
            "The issuer in the metadata is a plain http address; pin it with \(setting("ISSUER")) if it is right."
        case .foreignIssuer:
            "The issuer in the metadata is on another host than the metadata; pin it with \(setting("ISSUER")) if it is right."
        case .unrelatedIssuer:
            "The issuer in the metadata does not belong to the address of the metadata; "
                + "correct the address, or pin the issuer with \(setting("ISSUER")) if it is right."
        case .foreignTenant: "The issuer in the metadata is that of another tenant; check the address."
        case .openTenant:
            "The issuer in the metadata is for many tenants; list those that may use this API in \(setting("TENANTS"))."
        case .malformedKeySetURL: "The jwks_uri in the metadata is no web address; ask the provider."
        case .insecureKeySetURL: "The jwks_uri in the metadata is plain http; keys must come over https."
        case .foreignKeySetURL:
            "The jwks_uri in the metadata is on another host than the metadata; "
                + "name that host in \(setting("KEY_HOSTS")) if it is the provider's."
        }
    }
}

extension KeySetDocument.Key {
    /// Returns the issuer whose tokens this key may sign (P-7), under the metadata with which it was published.
    ///
    /// Microsoft publishes one key for several issuers, so a good signature proves nothing about the tenant. If one of
    /// the two issuers leaves the tenant open, the result is the other one.
    ///
    /// - Throws: ``KeyRejection`` if no token can be of both issuers, or if the key is of another cloud (P-8).
    package func issuer(under metadata: ProviderMetadata) throws(KeyRejection) -> String {
        if let cloud, let own = metadata.cloud, !cloud.isSame(as: own) { throw .otherCloud }
        guard let issuer, !issuer.isSame(as: metadata.issuer) else { return metadata.issuer }
        if Self.isInstance(metadata.issuer, of: issuer) { return metadata.issuer }
        guard Self.isInstance(issuer, of: metadata.issuer) else { throw .otherIssuer }
        return issuer
    }

    private static func isInstance(_ issuer: String, of template: String) -> Bool {
        guard let tenant = IssuerTenant.of(issuer) else { return false }
        return TokenIssuer(identifier: template, policy: nil).issues(issuer, tenant: tenant)
    }
}
