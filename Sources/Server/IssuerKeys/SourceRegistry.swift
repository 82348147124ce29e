import Basics
import Synchronization
import Tokens

/// The issuers that the token sources have loaded, which is all that they know of each other.
///
/// An issuer belongs to one source (P-2), and sources that share owners must be of one tenant (P-15).
/// ``IssuerKeysConfiguration/mistakes`` finds contradictions of the settings, and this class those that only the
/// documents show. No source waits for the documents of another (P-18).
final class SourceRegistry: Sendable {
    private let configuration: IssuerKeysConfiguration
    /// The issuers that were loaded, by source and document.
    private let loaded: Mutex<[[String?]]>

    init(_ configuration: IssuerKeysConfiguration) {
        self.configuration = configuration
        loaded = Mutex(configuration.sources.map { Array(repeating: nil, count: $0.documents.count) })
    }

    /// Notes the issuer of a document that is about to be trusted, or throws the reason for which it is not.
    func admit(_ issuer: String, source: Int, document: Int) throws(LoadFailure) {
        guard configuration.sources.count > 1 else { return }
        try checkSharing(issuer, source)
        try loaded.withLock { (loaded) throws(LoadFailure) in
            for (index, other) in configuration.sources.enumerated() where index != source {
                let issuers = other.knownIssuers + loaded[index].compactMap(\.self)
                guard issuers.contains(where: { Self.overlap($0, issuer) }) else { continue }
                throw LoadFailure(
                    "the metadata names an issuer whose tokens are those of \(other.name ?? "the source without name"); "
                        + "an issuer belongs to one source")
            }
            loaded[source][document] = issuer
        }
    }

    /// Checks that sources that share owners have the tenant of the settings, whatever their documents say.
    private func checkSharing(_ issuer: String, _ source: Int) throws(LoadFailure) {
        let group = configuration.sourcesSharingOwners(with: source)
        guard let sharing = group.first(where: \.sharesOwners) else { return }
        let tenant = group.lazy.flatMap(\.knownTenants).first
        guard let tenant, IssuerTenant.of(issuer) == tenant else {
            throw LoadFailure(
                "the metadata names another tenant than the settings name for the sources that share owners "
                    + "(\(sharing.setting("OWNERS"))); correct the tenant id in the settings, or do not share owners")
        }
    }

    /// Returns whether one token could be of both issuers: they are equal, but for a tenant that is left open (P-2).
    static func overlap(_ first: String, _ second: String) -> Bool {
        let tenant = IssuerTenant.of(first) ?? IssuerTenant.of(second) ?? IssuerTenant.personalAccounts
        return IssuerTenant.fill(first, with: tenant).isSame(as: IssuerTenant.fill(second, with: tenant))
    }
}

extension TokenSource {
    /// Refuses an issuer of another provider or tenant than a document of this source that is already trusted.
    ///
    /// Equal values of the owner claim are one owner in a source, so all its documents must be of one tenant. The
    /// settings refuse mistakes in the addresses, and this check refuses mistakes that only the documents show.
    /// Policies of an authority may have any issuers that do not name two tenants. `trusted` has the issuers in the
    /// order of the documents; nil for a document that does not serve.
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
