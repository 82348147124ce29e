/// The signature algorithms of tokens that the server can verify, by their names in RFC 7518 section 3.1 and RFC 8037.
package enum SignatureAlgorithm: String, Sendable, CaseIterable {
    case rs256 = "RS256"
    case rs384 = "RS384"
    case rs512 = "RS512"
    case ps256 = "PS256"
    case es256 = "ES256"
    case es384 = "ES384"
    /// EdDSA with Ed25519 only.
    case edDSA = "EdDSA"

    /// Returns the algorithm with exactly this name, in the same case and with the same bytes.
    package init?(named name: String) {
        guard let algorithm = Self.allCases.first(where: { name.isSame(as: $0.rawValue) }) else { return nil }
        self = algorithm
    }

    /// The kinds of keys (RFC 7518 section 6, RFC 8037 section 2).
    package enum KeyKind: Sendable, Equatable {
        case rsa, p256, p384, ed25519

        /// The curve (`crv`), and the octets of a coordinate; nil for RSA.
        package var curve: (name: String, octets: Int)? {
            switch self {
            case .rsa: nil
            case .p256: ("P-256", 32)
            case .p384: ("P-384", 48)
            case .ed25519: ("Ed25519", 32)
            }
        }
    }

    /// The only kind of key that this algorithm takes.
    package var keyKind: KeyKind {
        switch self {
        case .rs256, .rs384, .rs512, .ps256: .rsa
        case .es256: .p256
        case .es384: .p384
        case .edDSA: .ed25519
        }
    }
}

/// The numbers of a public key: big-endian for RSA and elliptic curves, as RFC 8032 encodes them for Ed25519.
package enum PublicKeyNumbers: Sendable, Equatable {
    case rsa(modulus: [UInt8], exponent: [UInt8])
    /// A point of the curve of the key's algorithm; each coordinate has the full length of the curve.
    case ec(x: [UInt8], y: [UInt8])
    case ed25519([UInt8])
}
