private import COpenSSL

/// The parts of a certificate that an operator needs (RFC 5280).
package struct CertificateFacts: Sendable, Equatable {
    /// The DNS names and IP addresses that it names (`subjectAltName`).
    package let names: [String]
    /// The first second in which it is valid, since 1970.
    package let notBefore: Int64
    /// The last second in which it is valid, since 1970.
    package let notAfter: Int64
    /// The strength of its key in bits of security (NIST SP 800-57): 112 is RSA with 2048 bits.
    package let keyStrength: Int
    /// Whether its key is RSA, or EC on P-256 or P-384; our servers sign no handshake with other keys.
    package let hasUsualKey: Bool
    /// The strength of the hash that was signed, in bits of security: 128 is SHA-256.
    package let signatureStrength: Int
    /// Whether its extensions allow its use by a TLS server.
    package let isForServers: Bool
    /// Whether the next certificate of the chain is its issuer's; true for the last one.
    package let isFollowedByIssuer: Bool
}

/// Owns one `X509`, which is only read.
@safe final class CertificateHandle {
    let pointer: OpaquePointer

    init(takingOwnershipOf certificate: OpaquePointer) {
        unsafe pointer = certificate
    }

    deinit { unsafe X509_free(pointer) }

    /// Returns the facts; only the caller knows the next certificate.
    func facts(isFollowedByIssuer: Bool) -> CertificateFacts {
        let names = unsafe MemoryText.taking(copenssl_certificate_names(pointer)) ?? ""
        return CertificateFacts(
            names: names.split(separator: "\n").map(String.init), notBefore: unsafe copenssl_not_before(pointer),
            notAfter: unsafe copenssl_not_after(pointer),
            keyStrength: Int(unsafe copenssl_certificate_key_strength(pointer)),
            hasUsualKey: unsafe copenssl_certificate_key_is_usual(pointer) == 1,
            signatureStrength: Int(unsafe copenssl_signature_strength(pointer)),
            isForServers: unsafe copenssl_is_for_servers(pointer) == 1, isFollowedByIssuer: isFollowedByIssuer)
    }

    /// Returns whether another certificate issued this one, by names, key identifiers and the allowed uses of the key.
    func isIssued(by other: CertificateHandle) -> Bool {
        unsafe X509_check_issued(other.pointer, pointer) == X509_V_OK
    }

    /// Returns whether this private key belongs to the certificate.
    func isFor(_ key: borrowing KeyHandle) -> Bool {
        defer { ErrorQueue.clear() }
        return unsafe X509_check_private_key(pointer, key.pointer) == 1
    }

    var pem: String? { unsafe MemoryText.taking(copenssl_certificate_write(pointer)) }
}

/// Texts that OpenSSL writes to memory.
enum MemoryText {
    /// Returns the text in a memory BIO and frees the BIO; nil if there is no BIO.
    static func taking(_ bio: OpaquePointer?) -> String? {
        guard let bio = unsafe bio else { return nil }
        defer { unsafe BIO_free(bio) }
        // The bytes belong to the BIO, and the string copies them.
        var start: UnsafePointer<CChar>?
        let count = unsafe copenssl_bio_bytes(bio, &start)
        return unsafe String(decoding: UnsafeRawBufferPointer(start: start, count: count), as: UTF8.self)
    }
}
