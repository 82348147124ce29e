/// The reason for which the issuer in a document is believed (V-74, P-4, P-5).
package enum IssuerBasis: String, Sendable, Equatable {
    /// The settings name the issuer.
    case pinned
    /// The issuer is on the host of the document.
    case sameHost
    /// Microsoft has this issuer for the address of the document.
    case derived
}
