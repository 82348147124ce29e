import Tokens

extension TokenSource {
    /// Refuses an issuer that is of another provider, or of another tenant, than one of this source that is trusted already.
    ///
    /// Owners and audiences of one source are not distinguished by issuer: equal values of the owner claim are one owner. So
    /// all its documents must be of one tenant. The settings refuse what the addresses show; what only the documents show is
    /// refused here. Policies of a configured authority may have issuers of any form, as long as they do not name two
    /// tenants.
    ///
    /// - Parameters:
    ///   - issuer: the issuer in the document.
    ///   - document: the index of the document.
    ///   - trusted: the issuers that are trusted now, in the order of the documents; nothing where one does not serve.
    /// - Throws: ``LoadFailure/otherIssuer(than:)`` if they are not of one tenant.
    func checkTenant(of issuer: String, document: Int, trusted: [String?]) throws(LoadFailure) {
        let mayDiffer = !documents[document].demandsOwnIssuer
        for (index, other) in trusted.enumerated() where index != document {
            guard let other, !(MetadataLocation.isSameTenant(issuer, other) ?? mayDiffer) else { continue }
            throw .otherIssuer(than: documents[index].name)
        }
    }
}
