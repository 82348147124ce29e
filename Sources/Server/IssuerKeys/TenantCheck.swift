import Tokens

extension TokenSource {
    /// Refuses an issuer of another provider or tenant than a document of this source that is already trusted.
    ///
    /// Equal values of the owner claim are one owner in a source, so all its documents must be of one tenant. The
    /// settings refuse mistakes in the addresses, and this check those that only the documents show. Policies of an
    /// authority may have any issuers that do not name two tenants. The issuers that are trusted now are in the order
    /// of the documents; nil is for one that does not serve.
    func checkTenant(of issuer: String, document: Int, trusted: [String?]) throws(LoadFailure) {
        let mayDiffer = !documents[document].rules.demandsOwnIssuer
        for (index, other) in trusted.enumerated() where index != document {
            guard let other, !(MetadataLocation.isSameTenant(issuer, other) ?? mayDiffer) else { continue }
            throw LoadFailure(
                "the metadata names another issuer than that of \(documents[index].name), and two providers may not be "
                    + "one source: configure each as a source of its own (TASKS_SOURCES)")
        }
    }
}
