import Basics

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
