import Tokens

extension IssuerKeysConfiguration {
    /// Refuses an issuer that is of another provider, or of another tenant, than one that is trusted already.
    ///
    /// Owners and audiences are not distinguished by issuer: equal values of the owner claim are one owner. So all documents
    /// must be of one tenant. The settings refuse what the addresses show; what only the documents show is refused here.
    /// Policies of a configured authority may have issuers of any form, as long as they do not name two tenants.
    ///
    /// - Parameters:
    ///   - issuer: the issuer in the document.
    ///   - source: the index of the key source.
    ///   - trusted: the issuers that are trusted now, in the order of the key sources; nothing where one does not serve.
    /// - Throws: ``LoadFailure/otherIssuer(than:)`` if they are not of one tenant.
    func checkTenant(of issuer: String, source: Int, trusted: [String?]) throws(LoadFailure) {
        let mayDiffer = !keySources[source].demandsOwnIssuer
        for (index, other) in trusted.enumerated() where index != source {
            guard let other, !(MetadataLocation.isSameTenant(issuer, other) ?? mayDiffer) else { continue }
            throw .otherIssuer(than: keySources[index].name)
        }
    }
}
