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
        var certificate = DERReader(bytes[...])
        guard var whole = certificate.inner(), var fields = whole.inner() else { return nil }
        // The version, which the first certificates lack; serial number, algorithm, issuer, validity and subject.
        if fields.bytes.first == 0xA0 { _ = fields.next() }
        for _ in 0..<5 { _ = fields.next() }
        guard var publicKey = fields.inner(), publicKey.next() != nil, let bits = publicKey.next() else { return nil }
        var numbers = DERReader(bits.dropFirst())
        guard var pair = numbers.inner(), let modulus = pair.next(), let exponent = pair.next() else { return nil }
        self.init(
            thumbprints: [SHA1.digest(bytes), SHA256.digest(bytes)],
            key: .rsa(modulus: Array(modulus.drop { $0 == 0 }), exponent: Array(exponent.drop { $0 == 0 })))
    }

    private init(thumbprints: [[UInt8]], key: PublicKeyNumbers?) {
        self.thumbprints = thumbprints
        self.key = key
    }
}

/// Reads elements of DER (X.690) one after the other.
private struct DERReader {
    private(set) var bytes: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
    }

    /// The content of the next element.
    mutating func next() -> ArraySlice<UInt8>? {
        guard bytes.popFirst() != nil, var count = bytes.popFirst().map(Int.init) else { return nil }
        if count >= 0x80 {
            count &= 0x7F
            guard (1...3).contains(count), bytes.count >= count else { return nil }
            let length = bytes.prefix(count)
            bytes = bytes.dropFirst(count)
            count = length.reduce(0) { $0 << 8 | Int($1) }
        }
        guard bytes.count >= count else { return nil }
        defer { bytes = bytes.dropFirst(count) }
        return bytes.prefix(count)
    }

    /// The elements within the next element.
    mutating func inner() -> DERReader? { next().map(DERReader.init) }
}
