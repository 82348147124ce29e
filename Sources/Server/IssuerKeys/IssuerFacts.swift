import Basics
import Platform
package import Tokens

// The issuers of all sources, for other parts than the verification.
extension BearerVerifier {
    /// The issuers whose tokens are accepted now, for the metadata of the protected resource (P-35).
    ///
    /// A source that has not loaded its metadata has no issuer yet. An issuer for many tenants counts once for each
    /// listed tenant; if every tenant is allowed, it is left out, because no client could use it.
    package var openIssuers: [String] {
        zip(statuses, rules).filter { !$0.0.isClosed }.flatMap { status, rules in
            status.issuers.flatMap { issuer in
                guard IssuerTenant.isTemplate(issuer) else { return [issuer] }
                return (rules.tenants?.listed ?? []).map { IssuerTenant.fill(issuer, with: $0) }
            }
        }.withoutDuplicates
    }

    /// Returns the mistake that a refused token shows, if it shows a common one (P-33).
    package func mistake(in token: String, refused refusal: TokenRefusal) -> CommonMistake? {
        CommonMistake(
            in: token, refused: refusal, issuers: statuses.flatMap(\.issuers),
            audiences: rules.flatMap(\.audience.accepted), now: time.wallSeconds)
    }
}

extension IssuerKeysConfiguration {
    /// The text before the owners of each source in the store, each once; empty for owners without a namespace.
    package var ownerPrefixes: [String] { sources.indices.map(ownerPrefix(ofSource:)).withoutDuplicates }
}
