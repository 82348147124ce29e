import Basics
import OpenSSL

/// A certificate by which a client is known: whole, or by its thumbprint alone.
package struct ClientCertificate: Sendable, Equatable {
    /// The SHA-1 hash (`x5t`) or SHA-256 hash (`x5t#S256`) of the certificate, or both.
    let thumbprints: [[UInt8]]
    /// The RSA key; `nil` if only the thumbprint is known.
    let key: PublicKeyNumbers?

    /// What a configuration calls the certificate that the state folder keeps.
    static let kept = "client.pem"
}

extension ClientCertificate {
    /// Reads a certificate in PEM, or a thumbprint in hexadecimal; nil for another text.
    package init?(_ text: String) {
        if text.contains("-----BEGIN CERTIFICATE-----") {
            let lines = text.split(whereSeparator: \.isNewline).filter { !$0.hasPrefix("-----") }
            guard let bytes = Base64.decodeLenient(lines.joined()) else { return nil }
            self.init(der: bytes)
        } else {
            let digits = text.utf8.compactMap(\.hexadecimalValue)
            guard digits.count == text.utf8.count, [40, 64].contains(digits.count) else { return nil }
            let hash = stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
            self.init(thumbprints: [hash], key: nil)
        }
    }

    /// Reads the certificate of an RSA key (RFC 5280 section 4.1).
    init?(der bytes: [UInt8]) {
        guard let key = PublicKeyNumbers(ofCertificate: bytes) else { return nil }
        self.init(thumbprints: [SHA1.digest(bytes), SHA256.digest(bytes)], key: key)
    }
}
