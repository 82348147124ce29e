/// Why the issuer that a document names is believed (V-74, P-4, P-5).
package enum IssuerBasis: String, Sendable, Equatable {
    /// The settings name it.
    case pinned
    /// It is on the host of the document.
    case sameHost
    /// It is the one that Microsoft has for this address.
    case derived
}
