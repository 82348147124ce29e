private import COpenSSL

/// A certificate that is to be signed (RFC 5280): for mock-authority's own https, and beside its token signing keys.
package struct NewCertificate: Sendable {
    /// The common name.
    package let name: String
    package let key: PrivateKey
    /// The serial number, big-endian; its first bit is 0.
    package let serial: [UInt8]
    /// The first second in which it is valid, since 1970.
    package let notBefore: Int64
    /// The last second in which it is valid, since 1970.
    package let notAfter: Int64
    /// Lines such as `basicConstraints = critical, CA:TRUE`, as in OpenSSL's configuration files (x509v3_config(5)).
    package let extensions: [String]

    package init(
        name: String, key: PrivateKey, serial: [UInt8], notBefore: Int64, notAfter: Int64, extensions: [String]
    ) {
        self.name = name
        self.key = key
        self.serial = serial
        self.notBefore = notBefore
        self.notAfter = notAfter
        self.extensions = extensions
    }

    /// Returns the certificate in PEM, signed with its own key.
    package func selfSigned() throws(PrivateKeyError) -> String {
        guard let pem = unsafe make(issuer: nil, signer: key.handle) else { throw .library(ErrorQueue.drain()) }
        return pem
    }

    /// Returns the certificate in PEM, signed by the authority that has this certificate (in PEM) and this key.
    package func signed(by issuer: String, _ signer: PrivateKey) throws(PrivateKeyError) -> String {
        guard let issuer = Self.read(issuer) else { throw .library(ErrorQueue.drain()) }
        guard let pem = unsafe make(issuer: issuer.pointer, signer: signer.handle) else {
            throw .library(ErrorQueue.drain())
        }
        return pem
    }

    private static func read(_ pem: String) -> CertificateHandle? {
        let certificate: OpaquePointer? = unsafe pem.withCString { text in
            // The BIO refers to the text, and is freed before it.
            guard let bio = unsafe BIO_new_mem_buf(text, -1) else { return nil }
            defer { unsafe BIO_free(bio) }
            return unsafe PEM_read_bio_X509(bio, nil, nil, nil)
        }
        guard let certificate = unsafe certificate else { return nil }
        return unsafe CertificateHandle(takingOwnershipOf: certificate)
    }

    private func make(issuer: OpaquePointer?, signer: borrowing KeyHandle) -> String? {
        ErrorQueue.clear()
        // Everything is borrowed for the call.
        let made = unsafe copenssl_certificate_make(
            key.handle.pointer, name, serial, serial.count, notBefore, notAfter, extensions.joined(separator: "\n"),
            issuer, signer.pointer)
        guard let made = unsafe made else { return nil }
        return unsafe CertificateHandle(takingOwnershipOf: made).pem
    }
}
