import Basics
import JSON

/// The metadata of a provider (OpenID Connect Discovery 1.0 section 3), as far as it is used here.
package struct ProviderMetadata: Sendable, Equatable {
    /// The longest document that is read, in bytes.
    package static let longest = 256 * 1024

    /// `issuer`: `iss` of its tokens must have the same bytes.
    package let issuer: String
    /// `jwks_uri`: the address of its key set.
    package let keySetURL: String

    /// Reads a document; ``check(against:)`` decides whether to trust it.
    ///
    /// - Parameter bytes: the document, all of it.
    /// - Throws: the first member that is missing.
    package init(parsing bytes: [UInt8]) throws(MetadataError) {
        let object = try rethrowing(as: { _ in MetadataError.notJSON }) { () throws(JSONError) in
            try StrictJSON.object(bytes, longest: Self.longest)
        }
        guard let issuer = object["issuer"]?.string, !issuer.isEmpty else { throw .missingIssuer }
        guard let keySetURL = object["jwks_uri"]?.string, !keySetURL.isEmpty else { throw .missingKeySetURL }
        self.issuer = issuer
        self.keySetURL = keySetURL
    }

    /// Checks whether the document may be trusted (V-74); otherwise nothing of it is used.
    ///
    /// - Throws: the first rule that is broken.
    package func check(against rules: MetadataRules) throws(MetadataError) {
        guard let source = WebAddress(rules.metadataURL), rules.mayFetch(source) else { throw .insecureSource }
        try checkIssuer(rules, source)
        guard let keys = WebAddress(keySetURL) else { throw .malformedKeySetURL }
        guard rules.mayFetch(keys) else { throw .insecureKeySetURL }
        // A document fetched over TLS must not lead to keys that can be changed in transit.
        guard keys.isEncrypted || !source.isEncrypted else { throw .insecureKeySetURL }
        guard source.host.isSame(as: keys.host) else { throw .foreignKeySetURL }
    }

    private func checkIssuer(_ rules: MetadataRules, _ source: WebAddress) throws(MetadataError) {
        if let pinned = rules.pinnedIssuer {
            guard issuer.isSame(as: pinned) else { throw .unexpectedIssuer }
            return
        }
        guard let address = WebAddress(issuer) else { throw .malformedIssuer }
        guard rules.mayFetch(address) else { throw .insecureIssuer }
        guard address.isSameHost(as: source) else { throw .foreignIssuer }
        if rules.demandsOwnIssuer {
            guard MetadataLocation(rules.metadataURL)?.owns(issuer: address) ?? false else { throw .unrelatedIssuer }
        }
        guard let tenant = rules.tenantIdentifier.map(\.lowercasedASCII) else { return }
        let parts = issuer.lowercasedASCII.split(separator: "/")
        guard parts.contains(where: { $0.isSame(as: tenant) }) else { throw .foreignTenant }
    }
}

/// What is known of a provider before its metadata is fetched.
package struct MetadataRules: Sendable, Equatable {
    package var metadataURL: String
    /// The issuer that the settings demand; then no other is trusted.
    package var pinnedIssuer: String?
    /// The GUID of the tenant, which the issuer must contain, if it is known.
    package var tenantIdentifier: String?
    /// Whether plain `http` is allowed from other hosts than the loopback.
    package var allowHTTP: Bool
    /// Whether the issuer must belong to the address (OpenID Connect Discovery 1.0 section 4.3), not only to its host.
    package var demandsOwnIssuer: Bool

    /// Rules for a document at this address; the defaults are the strictest.
    package init(
        metadataURL: String, pinnedIssuer: String? = nil, tenantIdentifier: String? = nil, allowHTTP: Bool = false,
        demandsOwnIssuer: Bool = true
    ) {
        self.metadataURL = metadataURL
        self.pinnedIssuer = pinnedIssuer
        self.tenantIdentifier = tenantIdentifier
        self.allowHTTP = allowHTTP
        self.demandsOwnIssuer = demandsOwnIssuer
    }

    /// Whether the scheme of the address is allowed.
    func mayFetch(_ address: WebAddress) -> Bool {
        address.isEncrypted || address.isLoopback || allowHTTP
    }
}
