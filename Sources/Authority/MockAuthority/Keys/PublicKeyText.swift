import OpenSSL

/// The public half of a key as other tools write it: SubjectPublicKeyInfo (RFC 5280 section 4.1).
enum PublicKeyText {
    /// In PEM, with its markers.
    static func pem(of key: RSAPrivateKey) -> String {
        DER.pem("PUBLIC KEY", information(of: key))
    }

    /// In DER.
    static func information(of key: RSAPrivateKey) -> [UInt8] {
        let rsaEncryption = DER.identifier(1, 2, 840, 113_549, 1, 1, 1)
        return DER.sequence(DER.sequence(rsaEncryption, DER.null), DER.bits(numbers(of: key)))
    }

    /// Modulus and exponent (RFC 8017 appendix A.1.1).
    static func numbers(of key: RSAPrivateKey) -> [UInt8] {
        DER.sequence(DER.integer(key.modulus), DER.integer(key.exponent))
    }
}
