import OpenSSL

/// Makes the certificates of the mock's own https (RFC 5280), strict enough for the strictest client.
struct CertificateMaker: Sendable {
    /// Now, in seconds since 1970.
    let now: Int64

    private static let day: Int64 = 86400
    private static let signature = DER.sequence(DER.identifier(1, 2, 840, 113_549, 1, 1, 11), DER.null)

    /// A self-signed certificate authority, for ten years.
    func authority(_ key: RSAPrivateKey, name: String) throws(RSAError) -> String {
        let identifier = Self.keyIdentifier(key)
        let extensions = [
            Extension.critical([2, 5, 29, 19], DER.sequence(DER.yes, DER.integer([0]))),
            // keyCertSign, cRLSign
            Extension.critical([2, 5, 29, 15], DER.bits([0x06], unused: 1)),
            Extension.plain([2, 5, 29, 14], DER.octets(identifier)),
        ]
        let subject = Subject(name: name, key: key, lifetime: 3650 * Self.day, extensions: extensions)
        return try certificate(subject, issuer: name, signer: key)
    }

    /// A server of these names, for a bit more than a year.
    func server(
        _ key: RSAPrivateKey, names: [String], issuer: String, signer: RSAPrivateKey
    ) throws(RSAError) -> String {
        let extensions = [
            Extension.critical([2, 5, 29, 19], DER.sequence()),
            // digitalSignature, keyEncipherment
            Extension.critical([2, 5, 29, 15], DER.bits([0xA0], unused: 5)),
            // serverAuth
            Extension.plain([2, 5, 29, 37], DER.sequence(DER.identifier(1, 3, 6, 1, 5, 5, 7, 3, 1))),
            Extension.plain([2, 5, 29, 17], DER.element(0x30, names.flatMap(Self.alternative))),
            Extension.plain([2, 5, 29, 35], DER.sequence(DER.element(0x80, Self.keyIdentifier(signer)))),
            Extension.plain([2, 5, 29, 14], DER.octets(Self.keyIdentifier(key))),
        ]
        let subject = Subject(name: names[0], key: key, lifetime: 397 * Self.day, extensions: extensions)
        return try certificate(subject, issuer: issuer, signer: signer)
    }

    /// The self-signed certificate of a token signing key in DER, as Microsoft's key sets have one in `x5c`.
    ///
    /// It depends on the key and the time only, since its hash is the name of the key.
    func tokenSigning(_ key: RSAPrivateKey, name: String) throws(RSAError) -> [UInt8] {
        let extensions = [Extension.plain([2, 5, 29, 14], DER.octets(Self.keyIdentifier(key)))]
        let subject = Subject(name: name, key: key, lifetime: 1826 * Self.day, extensions: extensions)
        let serial = [0x40] + SHA256.digest(key.modulus).prefix(7)
        return try encoded(subject, issuer: name, signer: key, serial: serial)
    }

    /// Who a certificate is about.
    private struct Subject {
        let name: String
        let key: RSAPrivateKey
        let lifetime: Int64
        let extensions: [[UInt8]]
    }

    private func certificate(
        _ subject: Subject, issuer: String, signer: RSAPrivateKey
    ) throws(RSAError) -> String {
        var serial = SecureRandom.bytes(16)
        serial[0] = serial[0] & 0x7F | 0x40
        return DER.pem("CERTIFICATE", try encoded(subject, issuer: issuer, signer: signer, serial: serial))
    }

    private func encoded(
        _ subject: Subject, issuer: String, signer: RSAPrivateKey, serial: [UInt8]
    ) throws(RSAError) -> [UInt8] {
        let validity = DER.sequence(DER.time(now - Self.day), DER.time(now + subject.lifetime))
        let body = DER.sequence(
            DER.element(0xA0, DER.integer([2])), DER.integer(serial), Self.signature, Self.name(issuer), validity,
            Self.name(subject.name), PublicKeyText.information(of: subject.key),
            DER.element(0xA3, DER.element(0x30, subject.extensions.flatMap { $0 })))
        return DER.sequence(body, Self.signature, DER.bits(try signer.sign(body)))
    }

    private static func name(_ text: String) -> [UInt8] {
        DER.sequence(DER.element(0x31, DER.sequence(DER.identifier(2, 5, 4, 3), DER.text(text))))
    }

    /// RFC 7093 section 2: the left 160 bits of the SHA-256 of the key.
    private static func keyIdentifier(_ key: RSAPrivateKey) -> [UInt8] {
        Array(SHA256.digest(PublicKeyText.numbers(of: key)).prefix(20))
    }

    /// A name or address of a server.
    private static func alternative(_ name: String) -> [UInt8] {
        if name == "::1" { return DER.element(0x87, [UInt8](repeating: 0, count: 15) + [1]) }
        let numbers = name.split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }
        if numbers.count == 4, !numbers.contains(nil) { return DER.element(0x87, numbers.compactMap { $0 }) }
        return DER.element(0x82, Array(name.utf8))
    }

    private enum Extension {
        static func plain(_ arcs: [Int], _ value: [UInt8]) -> [UInt8] {
            DER.sequence(identifier(arcs), DER.octets(value))
        }

        static func critical(_ arcs: [Int], _ value: [UInt8]) -> [UInt8] {
            DER.sequence(identifier(arcs), DER.yes, DER.octets(value))
        }

        /// All of them are two bytes below 2.5.
        private static func identifier(_ arcs: [Int]) -> [UInt8] {
            DER.identifier(arcs[0], arcs[1], arcs[2], arcs[3])
        }
    }
}
