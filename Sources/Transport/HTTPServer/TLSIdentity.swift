private import CMicroHTTPD

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

/// An identity that GnuTLS has read, for the connections that a running server accepts from now on.
///
/// It is unchecked, because only a handle moves between threads, and GnuTLS does not change what it has read.
@safe
package final class RenewedIdentity: @unchecked Sendable {
    private let credentials: gnutls_certificate_credentials_t

    /// Reads an identity; nil if GnuTLS cannot use it.
    package init?(_ identity: TLSIdentity) {
        guard let credentials = unsafe CMicroHTTPD_credentials(identity.certificates, identity.key) else { return nil }
        unsafe self.credentials = credentials
    }

    deinit { unsafe gnutls_certificate_free_credentials(credentials) }

    /// Shows this identity on a connection that has just been opened, if the connection has TLS.
    func present(on connection: OpaquePointer) { unsafe CMicroHTTPD_use_credentials(connection, credentials) }
}
