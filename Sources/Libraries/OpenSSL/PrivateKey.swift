package import Basics
private import COpenSSL

/// A private key, with which mock-authority and tests sign tokens.
///
/// The server holds no such key. The key is immutable, and any thread may sign.
package final class PrivateKey: Sendable {
    package let algorithm: SignatureAlgorithm
    let handle: KeyHandle

    private init(_ handle: consuming KeyHandle, _ algorithm: SignatureAlgorithm) {
        self.handle = handle
        self.algorithm = algorithm
    }

    /// Makes a new key; an RSA modulus has 1024 to 8192 bits, and less than 2048 only for keys that must be refused.
    package static func generate(
        _ algorithm: SignatureAlgorithm = .rs256, bits: Int = 2048
    ) throws(PrivateKeyError) -> PrivateKey {
        guard (1024...8192).contains(bits) else { throw .modulusSize(bits: bits) }
        Cleanup.turnOff()
        ErrorQueue.clear()
        let key: OpaquePointer? =
            switch algorithm.keyKind {
            case .rsa: unsafe copenssl_rsa_generate(UInt32(bits))
            case .p256, .p384: unsafe copenssl_ec_generate(algorithm.curve?.name)
            case .ed25519: unsafe copenssl_ed25519_generate()
            }
        guard let key = unsafe key else { throw .library(ErrorQueue.drain()) }
        return PrivateKey(unsafe KeyHandle(takingOwnershipOf: key), algorithm)
    }

    /// Reads an unencrypted RSA key in PEM, PKCS #8 or PKCS #1.
    package convenience init(pem: String) throws(PrivateKeyError) {
        guard pem.utf8.count <= 1 << 16 else { throw .notPrivateKey }
        let key = try rethrowing(as: { _ in PrivateKeyError.notPrivateKey }) { () throws(ServerCredentialsError) in
            try KeyHandle.reading(pem)
        }
        guard key.isRSA else { throw .notPrivateKey }
        self.init(key, .rs256)
    }

    /// The key as PKCS #8 in PEM, unencrypted.
    package var pem: String { Self.text(handle.pem) }

    /// The public half as SubjectPublicKeyInfo in PEM (RFC 5280 section 4.1).
    package var publicPEM: String {
        unsafe Self.text(MemoryText.written { unsafe PEM_write_bio_PUBKEY($0, handle.pointer) })
    }

    private static func text(_ written: String?) -> String {
        guard let written else { preconditionFailure("writing a key to memory cannot fail, unless memory ran out") }
        return written
    }

    /// The modulus of an RSA key, big-endian, without leading zero octet.
    package var modulus: [UInt8] {
        handle.number(OSSL_PKEY_PARAM_RSA_N)
    }

    /// The public exponent of an RSA key, big-endian, without leading zero octet.
    package var exponent: [UInt8] {
        handle.number(OSSL_PKEY_PARAM_RSA_E)
    }

    package var numbers: PublicKeyNumbers {
        guard algorithm.keyKind != .rsa else { return .rsa(modulus: modulus, exponent: exponent) }
        let octets = algorithm.curve?.octets ?? 16
        let point = unsafe [UInt8](unsafeUninitializedCapacity: 2 * octets) { point, count in
            count = 2 * octets
            let done =
                algorithm.keyKind == .ed25519
                ? unsafe EVP_PKEY_get_raw_public_key(handle.pointer, point.baseAddress, &count)
                : unsafe copenssl_ec_coordinates(handle.pointer, point.baseAddress, Int32(octets))
            precondition(done == 1, "a key has a public half, unless memory ran out")
        }
        guard algorithm.keyKind != .ed25519 else { return .ed25519(point) }
        return .ec(x: Array(point.prefix(octets)), y: Array(point.suffix(octets)))
    }

    /// Returns the public half, for signatures of this algorithm or, by default, of the key's own.
    package func publicKey(for algorithm: SignatureAlgorithm? = nil) throws(PublicKeyError) -> PublicKey {
        try PublicKey(numbers, for: algorithm ?? self.algorithm)
    }

    /// Signs a message as RFC 7518 section 3 and RFC 8037 section 3.1 say, perhaps as another algorithm for this kind
    /// of key.
    ///
    /// A signature is as long as an RSA modulus, or the two numbers of ECDSA, each of the length of the curve.
    package func sign(_ message: [UInt8], as other: SignatureAlgorithm? = nil) throws(PrivateKeyError) -> [UInt8] {
        ErrorQueue.clear()
        let algorithm = other ?? algorithm
        // The longest modulus taken has 1024 octets. Message and signature are borrowed for the call.
        var signature = [UInt8](repeating: 0, count: 1024)
        var count = signature.count
        let done = unsafe message.withUnsafeBufferPointer { message in
            unsafe signature.withUnsafeMutableBufferPointer { signature in
                unsafe copenssl_sign(
                    handle.pointer, algorithm.digest?.method, algorithm.padding, message.baseAddress, message.count,
                    signature.baseAddress, &count)
            }
        }
        guard done == 1 else { throw .library(ErrorQueue.drain()) }
        let made = Array(signature.prefix(count))
        guard let curve = algorithm.curve else { return made }
        return try Self.raw(made, count: 2 * curve.octets)
    }

    /// Returns the two numbers of an ECDSA signature in DER, one after the other (RFC 7518 section 3.4).
    private static func raw(_ der: [UInt8], count: Int) throws(PrivateKeyError) -> [UInt8] {
        var done: Int32 = 0
        let numbers = unsafe [UInt8](unsafeUninitializedCapacity: count) { numbers, filled in
            filled = count
            // Both are borrowed for the call.
            done = unsafe der.withUnsafeBufferPointer { der in
                unsafe copenssl_ecdsa_raw(der.baseAddress, der.count, numbers.baseAddress, count)
            }
        }
        guard done == 1 else { throw .library(ErrorQueue.drain()) }
        return numbers
    }
}

/// Why a private key cannot be made, read or used.
package enum PrivateKeyError: Error, Equatable, Sendable {
    /// A modulus of this size is not made; a key has 1024 to 8192 bits.
    case modulusSize(bits: Int)
    /// There is no unencrypted private key in the text, or a key of another kind than the algorithm's.
    case notPrivateKey
    /// OpenSSL failed, for this reason in its own words.
    case library(String)
}
