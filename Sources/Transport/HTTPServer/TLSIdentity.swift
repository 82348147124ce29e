private import Glibc

/// The certificate chain and private key of a TLS server.
package struct TLSIdentity: Sendable, Equatable {
    /// The certificates in PEM, the server's own first.
    package let certificates: String
    /// The private key of the server in PEM.
    package let key: String

    package init(certificates: String, key: String) {
        self.certificates = certificates
        self.key = key
    }
}

/// The texts of an identity at fixed addresses, because libmicrohttpd keeps the pointers and not the texts.
///
/// It is unchecked, because nothing writes to the texts before the end.
@safe
final class PinnedIdentity: @unchecked Sendable {
    let certificates: UnsafeMutablePointer<CChar>?
    let key: UnsafeMutablePointer<CChar>?

    init(_ identity: TLSIdentity) {
        unsafe certificates = strdup(identity.certificates)
        unsafe key = strdup(identity.key)
    }

    deinit {
        unsafe free(certificates)
        unsafe free(key)
    }
}
