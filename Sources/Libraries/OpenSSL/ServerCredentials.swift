package import Basics
private import COpenSSL

/// The certificates that a TLS server shows and the private key to them, read and compared.
package struct ServerCredentials: Sendable, Equatable {
    /// The certificates, the server's own first.
    package let certificates: [CertificateFacts]
    /// The certificates in PEM, without the rest of the file.
    package let certificatesPEM: String
    /// The private key as PKCS #8 in PEM, whatever form it had.
    package let keyPEM: String

    /// The most certificates that a chain may have.
    package static let longestChain = 16

    /// Reads the texts of two files in PEM; other objects in a text, such as those of the other file, are ignored.
    ///
    /// The certificates are the server's own and those of its issuers. The key is in PKCS #8, PKCS #1 or SEC 1.
    package init(certificates: String, key: String) throws(ServerCredentialsError) {
        Cleanup.turnOff()
        let chain = try CertificateChain(certificates)
        let key = try KeyHandle.reading(key)
        guard chain.isFor(key, at: 0) else {
            let position = (1..<chain.count).first { chain.isFor(key, at: $0) }
            throw position.map { .keyOfAnother(position: $0 + 1) } ?? .keyDoesNotMatch
        }
        guard let texts = chain.pem, let text = key.pem else { throw .unreadableKey }
        self.certificates = chain.facts
        certificatesPEM = texts
        keyPEM = text
    }
}

/// Why no TLS is possible with two files.
package enum ServerCredentialsError: Error, Sendable, Equatable {
    /// There is no certificate in the text.
    case noCertificate
    /// This certificate, counted from 1, cannot be read.
    case unreadableCertificate(position: Int)
    /// There are more certificates than in any chain.
    case tooManyCertificates
    /// The private key is encrypted, and a server has no passphrase.
    case encryptedKey
    /// There is no private key in the text, or it cannot be read.
    case unreadableKey
    /// The private key belongs to none of the certificates.
    case keyDoesNotMatch
    /// The private key is that of a later certificate, at this position counted from 1, instead of the server's own.
    case keyOfAnother(position: Int)
}

/// A flaw for which clients refuse a server, although TLS is possible.
package enum CertificateFlaw: Sendable, Equatable {
    /// The certificate at this position, counted from 1, expired at this second since 1970.
    case expired(position: Int, at: Int64)
    /// The certificate at this position is not valid yet.
    case notYetValid(position: Int, from: Int64)
    /// The certificate at this position did not issue the one before it.
    case outOfOrder(position: Int)
    /// The server's certificate names no host.
    case noNames
    /// The server's certificate may not be used by a TLS server.
    case notForServers
    /// The key of the certificate at this position is too short.
    case weakKey(position: Int)
    /// The server's certificate has a key of another kind than RSA, EC P-256 and EC P-384.
    case unusualKey
    /// The certificate at this position is signed over MD5 or SHA-1.
    case weakSignature(position: Int)
}

extension ServerCredentials {
    package var own: CertificateFacts { certificates[0] }

    /// Returns the flaws that clients find at this time, in seconds since 1970.
    package func flaws(at now: Int64) -> [CertificateFlaw] {
        let ofEach = certificates.indices.flatMap { flaws(ofCertificateAt: $0, now) }
        let ofOwn: [(Bool, CertificateFlaw)] = [
            (own.names.isEmpty, .noNames), (!own.isForServers, .notForServers), (!own.hasUsualKey, .unusualKey),
        ]
        return ofEach + ofOwn.filter(\.0).map(\.1)
    }

    private func flaws(ofCertificateAt index: Int, _ now: Int64) -> [CertificateFlaw] {
        let (facts, position) = (certificates[index], index + 1)
        var flaws: [CertificateFlaw] = []
        if now > facts.notAfter { flaws.append(.expired(position: position, at: facts.notAfter)) }
        if now < facts.notBefore { flaws.append(.notYetValid(position: position, from: facts.notBefore)) }
        if !facts.isFollowedByIssuer { flaws.append(.outOfOrder(position: position + 1)) }
        if facts.keyStrength < 112 { flaws.append(.weakKey(position: position)) }
        // No one verifies the signature of a root, which is the last certificate if it is present.
        if facts.signatureStrength < 80, index == 0 || position < certificates.count {
            flaws.append(.weakSignature(position: position))
        }
        return flaws
    }
}

private struct CertificateChain {
    private let certificates: [CertificateHandle]

    init(_ pem: String) throws(ServerCredentialsError) {
        var text = pem
        var certificates: [CertificateHandle] = []
        var failure: ServerCredentialsError?
        // The BIO refers to the text, and is freed before it.
        text.withUTF8 { bytes in
            guard let bio = unsafe BIO_new_mem_buf(bytes.baseAddress, Int32(clamping: bytes.count)) else { return }
            defer { unsafe BIO_free(bio) }
            var isEnd: Int32 = 0
            while let certificate = unsafe copenssl_certificate_next(bio, &isEnd) {
                unsafe certificates.append(CertificateHandle(takingOwnershipOf: certificate))
                guard certificates.count <= ServerCredentials.longestChain else {
                    return failure = .tooManyCertificates
                }
            }
            if isEnd != 1 { failure = .unreadableCertificate(position: certificates.count + 1) }
        }
        if let failure { throw failure }
        guard !certificates.isEmpty else { throw .noCertificate }
        self.certificates = certificates
    }

    var count: Int { certificates.count }

    func isFor(_ key: borrowing KeyHandle, at index: Int) -> Bool { certificates[index].isFor(key) }

    /// All certificates in PEM; nil if memory ran out.
    var pem: String? {
        let texts = certificates.compactMap(\.pem)
        return texts.count == certificates.count ? texts.joined() : nil
    }

    var facts: [CertificateFacts] {
        certificates.indices.map { index in
            let next = index + 1
            let isOrdered = next == count || certificates[index].isIssued(by: certificates[next])
            return certificates[index].facts(isFollowedByIssuer: isOrdered)
        }
    }
}

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
        let names = unsafe MemoryText.written { unsafe copenssl_certificate_names($0, pointer) } ?? ""
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

    var pem: String? { unsafe MemoryText.written { unsafe PEM_write_bio_X509($0, pointer) } }
}

extension PublicKeyNumbers {
    /// The RSA key of a certificate in DER; nil for another key, or bytes that are no certificate.
    package init?(ofCertificate der: [UInt8]) {
        Cleanup.turnOff()
        defer { ErrorQueue.clear() }
        // The bytes are borrowed for the call.
        let certificate = unsafe der.withUnsafeBufferPointer { bytes in
            var start = bytes.baseAddress
            return unsafe d2i_X509(nil, &start, bytes.count)
        }
        guard let certificate = unsafe certificate else { return nil }
        let owner = unsafe CertificateHandle(takingOwnershipOf: certificate)
        guard let key = unsafe X509_get_pubkey(owner.pointer) else { return nil }
        let handle = unsafe KeyHandle(takingOwnershipOf: key)
        guard handle.isRSA else { return nil }
        self = .rsa(modulus: handle.number(OSSL_PKEY_PARAM_RSA_N), exponent: handle.number(OSSL_PKEY_PARAM_RSA_E))
    }
}
