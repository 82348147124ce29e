import Basics
import OpenSSL

/// Makes the certificates of the mock's own https (RFC 5280), strict enough for the strictest client.
struct CertificateMaker: Sendable {
    /// Now, in seconds since 1970.
    let now: Int64

    private static let day: Int64 = 86400
    private static let subjectKey = "subjectKeyIdentifier = hash"

    /// A self-signed certificate authority in PEM, for ten years.
    func authority(_ key: PrivateKey, name: String) throws(PrivateKeyError) -> String {
        let extensions = [
            "basicConstraints = critical, CA:TRUE, pathlen:0", "keyUsage = critical, keyCertSign, cRLSign",
            Self.subjectKey,
        ]
        return try certificate(key, name, serial: Self.serial(), days: 3650, extensions).selfSigned()
    }

    /// The certificate of a server of these names in PEM, for a year: Mozilla's configuration allows no more.
    func server(
        _ key: PrivateKey, names: [String], issuer: (key: PrivateKey, certificate: String)
    ) throws(PrivateKeyError) -> String {
        let extensions = [
            "basicConstraints = critical, CA:FALSE", "keyUsage = critical, digitalSignature, keyEncipherment",
            "extendedKeyUsage = serverAuth", "subjectAltName = \(names.map(Self.alternative).joined(separator: ", "))",
            "authorityKeyIdentifier = keyid:always", Self.subjectKey,
        ]
        return try certificate(key, names[0], serial: Self.serial(), days: 365, extensions)
            .signed(by: issuer.certificate, issuer.key)
    }

    /// The self-signed certificate of a token signing key in DER, as Microsoft's key sets have one in `x5c`.
    ///
    /// It depends on the key and the time only, since its hash is the name of the key.
    func tokenSigning(_ key: PrivateKey, name: String) throws(PrivateKeyError) -> [UInt8] {
        let serial = [0x40] + SHA256.digest(key.modulus).prefix(7)
        let pem = try certificate(key, name, serial: serial, days: 1826, [Self.subjectKey]).selfSigned()
        let lines = pem.split(separator: "\n").filter { !$0.hasPrefix("-----") }
        return Base64.decodeLenient(lines.joined()) ?? []
    }

    private func certificate(
        _ key: PrivateKey, _ name: String, serial: [UInt8], days: Int64, _ extensions: [String]
    ) -> NewCertificate {
        NewCertificate(
            name: name, key: key, serial: serial, notBefore: now - Self.day, notAfter: now + days * Self.day,
            extensions: extensions)
    }

    private static func serial() -> [UInt8] {
        var serial = SecureRandom.bytes(16)
        serial[0] = serial[0] & 0x7F | 0x40
        return serial
    }

    private static func alternative(_ name: String) -> String {
        "\(IPAddress(name) == nil ? "DNS" : "IP"):\(name)"
    }
}
