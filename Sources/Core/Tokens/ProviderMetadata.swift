import Basics
internal import JSON

/// What a provider says of itself (OpenID Connect Discovery 1.0 section 3), as far as it is used here.
package struct ProviderMetadata: Sendable, Equatable {
    /// The longest document taken, in bytes.
    package static let longest = 256 * 1024

    /// `issuer`: what `iss` of its tokens must be.
    package let issuer: String
    /// `jwks_uri`: where its keys are.
    package let keySetURL: String
    /// `authorization_endpoint`: where people sign in.
    package let authorizationEndpoint: String?
    /// `token_endpoint`: where codes become tokens.
    package let tokenEndpoint: String?
    /// `end_session_endpoint`: where people sign out.
    package let endSessionEndpoint: String?
    /// `userinfo_endpoint`: rare in B2C.
    package let userinfoEndpoint: String?

    /// Reads a document; ``check(against:)`` decides whether to believe it.
    ///
    /// - Parameter bytes: the document, all of it.
    /// - Throws: what is missing.
    package init(parsing bytes: [UInt8]) throws(MetadataError) {
        let object: JSONObject
        do {
            object = try StrictJSON.object(bytes, longest: Self.longest)
        } catch {
            throw .notJSON
        }
        guard let issuer = object["issuer"]?.string, !issuer.isEmpty else { throw .missingIssuer }
        guard let keySetURL = object["jwks_uri"]?.string, !keySetURL.isEmpty else { throw .missingKeySetURL }
        self.issuer = issuer
        self.keySetURL = keySetURL
        authorizationEndpoint = object["authorization_endpoint"]?.string
        tokenEndpoint = object["token_endpoint"]?.string
        endSessionEndpoint = object["end_session_endpoint"]?.string
        userinfoEndpoint = object["userinfo_endpoint"]?.string
    }

    /// Judges whether the document may be believed (V-74); otherwise nothing of it is used.
    ///
    /// - Parameter rules: where it was fetched, and what the settings pin.
    /// - Throws: the first rule that is broken.
    package func check(against rules: MetadataRules) throws(MetadataError) {
        guard let source = WebAddress(rules.metadataURL), rules.mayFetch(source) else { throw .insecureSource }
        try checkIssuer(rules, source)
        guard let keys = WebAddress(keySetURL) else { throw .malformedKeySetURL }
        guard rules.mayFetch(keys) else { throw .insecureKeySetURL }
        // A document fetched over TLS does not lead to keys that anybody on the way can change.
        guard keys.isEncrypted || !source.isEncrypted else { throw .insecureKeySetURL }
        let hosts = [source.host] + rules.keyHosts.map(Text.lowered)
        guard hosts.contains(where: { Text.same($0, keys.host) }) else { throw .foreignKeySetURL }
    }

    private func checkIssuer(_ rules: MetadataRules, _ source: WebAddress) throws(MetadataError) {
        if let pinned = rules.pinnedIssuer {
            guard Text.same(issuer, pinned) else { throw .unexpectedIssuer }
            return
        }
        guard let address = WebAddress(issuer) else { throw .malformedIssuer }
        guard rules.mayFetch(address) else { throw .insecureIssuer }
        guard address.isSameHost(as: source) else { throw .foreignIssuer }
        if rules.demandsOwnIssuer {
            guard MetadataLocation(rules.metadataURL)?.owns(issuer: address) ?? false else { throw .unrelatedIssuer }
        }
        guard let tenant = rules.tenantIdentifier.map(Text.lowered) else { return }
        let parts = Text.lowered(issuer).split(separator: "/")
        guard parts.contains(where: { Text.same(String($0), tenant) }) else { throw .foreignTenant }
    }
}

/// What is known of a provider before its metadata is fetched.
package struct MetadataRules: Sendable, Equatable {
    /// Where the document is fetched.
    package var metadataURL: String
    /// The issuer that the settings demand; then only that one is believed.
    package var pinnedIssuer: String?
    /// The GUID of the tenant, which the issuer must contain, if it is known.
    package var tenantIdentifier: String?
    /// Hosts, besides that of the metadata, at which keys may lie.
    package var keyHosts: [String]
    /// Whether plain `http` is taken from other hosts than the loopback.
    package var allowsPlainHTTP: Bool
    /// Whether the issuer must belong to the address (OpenID Connect Discovery 1.0 section 4.3), not only to its host.
    package var demandsOwnIssuer: Bool

    /// Rules for a document at this address, as strict as can be.
    package init(
        metadataURL: String, pinnedIssuer: String? = nil, tenantIdentifier: String? = nil, keyHosts: [String] = [],
        allowsPlainHTTP: Bool = false, demandsOwnIssuer: Bool = true
    ) {
        self.metadataURL = metadataURL
        self.pinnedIssuer = pinnedIssuer
        self.tenantIdentifier = tenantIdentifier
        self.keyHosts = keyHosts
        self.allowsPlainHTTP = allowsPlainHTTP
        self.demandsOwnIssuer = demandsOwnIssuer
    }

    /// Whether the network on the way there may be trusted.
    func mayFetch(_ address: WebAddress) -> Bool {
        address.isEncrypted || address.isLoopback || allowsPlainHTTP
    }
}
