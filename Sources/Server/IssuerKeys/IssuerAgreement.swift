internal import Synchronization
internal import Tokens

extension IssuerKeysConfiguration {
    /// Refuses the issuer of a source that is of another provider than one that is trusted already.
    ///
    /// Owners and audiences are not told apart by issuer: equal values of the owner claim are one owner. So all documents
    /// must be of one tenant. The settings refuse what the addresses show; what only the documents show is refused here.
    /// Policies of a configured authority may have issuers of any form, as long as they do not name two tenants.
    ///
    /// - Parameters:
    ///   - issuer: what the document names.
    ///   - source: the index of its source.
    ///   - trusted: the issuers that are trusted now, in the order of the sources; nothing where a source is not loaded.
    /// - Throws: ``LoadFailure/otherIssuer(than:)`` if they are not of one tenant.
    func checkAgreement(of issuer: String, source: Int, with trusted: [String?]) throws(LoadFailure) {
        let mayDiffer = !sources[source].demandsOwnIssuer
        for (index, other) in trusted.enumerated() where index != source {
            guard let other, !(MetadataLocation.isSameTenant(issuer, other) ?? mayDiffer) else { continue }
            throw .otherIssuer(than: sources[index].name)
        }
    }
}

extension KeyCache {
    /// The issuers whose keys serve now, in the order of the sources.
    func trustedIssuers(now: Int64) -> [String?] {
        guarded.withLock { guarded in
            guarded.loaded.indices.map { index in
                guarded.state.serves(source: index, now: now) ? guarded.loaded[index]?.issuer : nil
            }
        }
    }
}
