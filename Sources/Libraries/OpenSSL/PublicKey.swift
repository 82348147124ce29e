package import Basics
private import COpenSSL
private import Synchronization

/// A public key that checks the signatures of one algorithm.
///
/// The key is immutable to its users, and any number of threads may check at the same time.
package final class PublicKey: Sendable {
    /// The only algorithm for which the key is used.
    package let algorithm: SignatureAlgorithm
    /// The octets of every signature: of RSA as many as the modulus has.
    package let signatureLength: Int

    /// The contexts that are not in use, at most ``mostIdle``.
    private let idle: Mutex<[VerificationContext]>
    private let original: KeyHandle
    private static let mostIdle = 16

    /// Admits a key, unless OpenSSL finds it unsound (V-37).
    ///
    /// OpenSSL accepts points of Ed25519 of small order, under which a forgery verifies; this initializer refuses them.
    /// It also accepts empty and even moduli and exponents of 1, which `KeySetDocument` refuses before.
    package init(_ numbers: PublicKeyNumbers, for algorithm: SignatureAlgorithm) throws(PublicKeyError) {
        self.algorithm = algorithm
        Cleanup.turnOff()
        ErrorQueue.clear()
        switch (numbers, algorithm.keyKind) {
        case (.rsa(let modulus, let exponent), .rsa):
            signatureLength = modulus.count
            original = try Self.rsaKey(modulus, exponent)
        case (.ec(let x, let y), .p256), (.ec(let x, let y), .p384):
            guard let curve = algorithm.curve, x.count == curve.octets, y.count == curve.octets else { throw .point }
            signatureLength = 2 * curve.octets
            original = try Self.ecKey(curve.name, x, y)
        case (.ed25519(let point), .ed25519):
            signatureLength = 64
            original = try Self.ed25519Key(point)
        case (.rsa, _), (.ec, _), (.ed25519, _):
            throw .otherKind
        }
        guard let first = unsafe VerificationContext(copying: original.pointer, for: algorithm) else {
            throw .library(ErrorQueue.drain())
        }
        idle = Mutex([first])
    }

    private static func rsaKey(_ modulus: [UInt8], _ exponent: [UInt8]) throws(PublicKeyError) -> KeyHandle {
        // Both are copied by the call.
        let built = unsafe modulus.withUnsafeBufferPointer { n in
            unsafe exponent.withUnsafeBufferPointer { e in
                unsafe copenssl_rsa_public_key(n.baseAddress, n.count, e.baseAddress, e.count)
            }
        }
        guard let built = unsafe built else { throw .library(ErrorQueue.drain()) }
        return try sound(unsafe KeyHandle(takingOwnershipOf: built))
    }

    private static func sound(_ key: consuming KeyHandle) throws(PublicKeyError) -> KeyHandle {
        guard unsafe copenssl_public_check(key.pointer) == 1 else {
            ErrorQueue.clear()
            throw .unsound
        }
        return key
    }

    private static func ecKey(_ curve: String, _ x: [UInt8], _ y: [UInt8]) throws(PublicKeyError) -> KeyHandle {
        // The uncompressed form of SEC 1 section 2.3.3, which is copied by the call.
        let point = [0x04] + x + y
        let built = unsafe point.withUnsafeBufferPointer { point in
            unsafe copenssl_ec_public_key(curve, point.baseAddress, point.count)
        }
        ErrorQueue.clear()
        guard let built = unsafe built else { throw .point }
        return try sound(unsafe KeyHandle(takingOwnershipOf: built))
    }

    private static func ed25519Key(_ point: [UInt8]) throws(PublicKeyError) -> KeyHandle {
        guard point.count == 32 else { throw .point }
        guard !SmallOrderPoint.matches(point) else { throw .unsound }
        // The point is copied by the call.
        let built = unsafe point.withUnsafeBufferPointer { point in
            unsafe EVP_PKEY_new_raw_public_key_ex(nil, "ED25519", nil, point.baseAddress, point.count)
        }
        guard let built = unsafe built else { throw .library(ErrorQueue.drain()) }
        return unsafe KeyHandle(takingOwnershipOf: built)
    }

    /// Returns whether the key made this signature of the message (RFC 7518 section 3, RFC 8037 section 3.1).
    ///
    /// The length must be that of the algorithm and key (V-46), and the error queue is left empty (V-45).
    package func verifies(signature: Span<UInt8>, of message: Span<UInt8>) -> Bool {
        guard signature.count == signatureLength else { return false }
        let waiting = idle.withLock { $0.popLast() }
        guard let context = unsafe waiting ?? VerificationContext(copying: original.pointer, for: algorithm) else {
            ErrorQueue.clear()
            return false
        }
        let good = context.verifies(signature: signature, of: message)
        if !good { ErrorQueue.clear() }
        idle.withLock { if $0.count < Self.mostIdle { $0.append(context) } }
        return good
    }

    package func verifies(signature: [UInt8], of message: [UInt8]) -> Bool {
        verifies(signature: signature.span, of: message.span)
    }

    package func verifies(signature: [UInt8], of message: ArraySlice<UInt8>) -> Bool {
        verifies(signature: signature.span, of: message.span)
    }
}

/// Why a public key is not admitted.
package enum PublicKeyError: Error, Equatable, Sendable {
    /// The point has another length than the curve's, or is not on the curve.
    case point
    /// The algorithm takes keys of another kind.
    case otherKind
    /// OpenSSL finds the public key unsound, or the point of Ed25519 has a small order.
    case unsound
    /// OpenSSL failed, for this reason in its own words.
    case library(String)
}

/// The points of Ed25519 whose order divides 8: under such a key one signature fits many messages.
private enum SmallOrderPoint {
    /// The y coordinates in every encoding: 0, 1, p - 1, p, p + 1, and the two of order 8.
    private static let encodings: [[UInt8]] = [
        filled(first: 0, 0), filled(first: 1, 0), filled(first: 0xEC, 0xFF), filled(first: 0xED, 0xFF),
        filled(first: 0xEE, 0xFF),
        [
            0x26, 0xE8, 0x95, 0x8F, 0xC2, 0xB2, 0x27, 0xB0, 0x45, 0xC3, 0xF4, 0x89, 0xF2, 0xEF, 0x98, 0xF0, 0xD5, 0xDF,
            0xAC, 0x05, 0xD3, 0xC6, 0x33, 0x39, 0xB1, 0x38, 0x02, 0x88, 0x6D, 0x53, 0xFC, 0x05,
        ],
        [
            0xC7, 0x17, 0x6A, 0x70, 0x3D, 0x4D, 0xD8, 0x4F, 0xBA, 0x3C, 0x0B, 0x76, 0x0D, 0x10, 0x67, 0x0F, 0x2A, 0x20,
            0x53, 0xFA, 0x2C, 0x39, 0xCC, 0xC6, 0x4E, 0xC7, 0xFD, 0x77, 0x92, 0xAC, 0x03, 0x7A,
        ],
    ]

    private static func filled(first: UInt8, _ rest: UInt8) -> [UInt8] {
        [first] + [UInt8](repeating: rest, count: 30) + [rest & 0x7F]
    }

    /// Returns whether the point is one of them; its highest bit is the sign of x, which makes no difference.
    static func matches(_ point: [UInt8]) -> Bool {
        let y = point.dropLast() + [(point.last ?? 0) & 0x7F]
        return encodings.contains { $0.elementsEqual(y) }
    }
}

/// One prepared verification: a hash context, and a signature context on its own copy of the key.
///
/// Preparing costs as much as a third of the check itself, and a key object that two threads share slows both. So each
/// context owns a copy, is prepared once and used again. ``PublicKey`` hands each context to one caller at a time,
/// and that makes the unchecked conformance true.
@safe final class VerificationContext: @unchecked Sendable {
    /// An `EVP_PKEY` that the context owns.
    private let key: OpaquePointer
    /// An `EVP_PKEY_CTX` that the context owns, and that counts its own reference on `key`; nil for Ed25519.
    private let verifier: OpaquePointer?
    /// An `EVP_MD_CTX` that the context owns.
    private let hash: OpaquePointer
    /// The hash of the message; nil for Ed25519, which hashes by itself.
    private let digest: DigestAlgorithm?
    /// Whether the signature is that of a curve, which OpenSSL wants in DER.
    private let isECDSA: Bool

    /// Creates a context on a copy of the caller's key; nil if memory ran out.
    init?(copying original: OpaquePointer, for algorithm: SignatureAlgorithm) {
        digest = algorithm.digest
        isECDSA = algorithm.curve != nil
        guard let key = unsafe EVP_PKEY_dup(original) else { return nil }
        var verifier: OpaquePointer?
        if let digest {
            unsafe verifier = copenssl_verifier(key, digest.method, algorithm.padding)
            guard unsafe verifier != nil else {
                unsafe EVP_PKEY_free(key)
                return nil
            }
        }
        guard let hash = unsafe EVP_MD_CTX_new() else {
            unsafe EVP_PKEY_CTX_free(verifier)
            unsafe EVP_PKEY_free(key)
            return nil
        }
        unsafe self.key = key
        unsafe self.verifier = verifier
        unsafe self.hash = hash
    }

    deinit {
        unsafe EVP_MD_CTX_free(hash)
        unsafe EVP_PKEY_CTX_free(verifier)
        unsafe EVP_PKEY_free(key)
    }

    /// Returns whether OpenSSL answers exactly 1: 0 and everything negative are failures alike (V-45).
    ///
    /// The caller has compared the length of the signature.
    func verifies(signature: Span<UInt8>, of message: Span<UInt8>) -> Bool {
        guard let digest else { return verifiesWhole(signature: signature, of: message) }
        guard isECDSA else { return verifies(signature: signature, of: message, digest) }
        // The DER form has at most 16 bytes more. Both are borrowed for the call.
        let form = unsafe [UInt8](unsafeUninitializedCapacity: signature.count + 16) { form, count in
            unsafe count = signature.withUnsafeBufferPointer { raw in
                unsafe copenssl_ecdsa_der(raw.baseAddress, raw.count, form.baseAddress)
            }
        }
        return !form.isEmpty && verifies(signature: form.span, of: message, digest)
    }

    private func verifies(signature: Span<UInt8>, of message: Span<UInt8>, _ algorithm: DigestAlgorithm) -> Bool {
        var digest = InlineArray<64, UInt8>(repeating: 0)
        var bytes = digest.mutableSpan
        // Every pointer is borrowed for its call; the method is the process's own.
        return unsafe bytes.withUnsafeMutableBufferPointer { digest in
            let hashed = unsafe message.withUnsafeBufferPointer { message in
                unsafe EVP_DigestInit_ex2(hash, algorithm.method, nil) == 1
                    && EVP_DigestUpdate(hash, message.baseAddress, message.count) == 1
                    && EVP_DigestFinal_ex(hash, digest.baseAddress, nil) == 1
            }
            return unsafe signature.withUnsafeBufferPointer { signature in
                unsafe hashed
                    && EVP_PKEY_verify(
                        verifier, signature.baseAddress, signature.count, digest.baseAddress, algorithm.byteCount) == 1
            }
        }
    }

    /// Checks a signature of Ed25519, which covers the message itself.
    private func verifiesWhole(signature: Span<UInt8>, of message: Span<UInt8>) -> Bool {
        unsafe message.withUnsafeBufferPointer { message in
            unsafe signature.withUnsafeBufferPointer { signature in
                unsafe copenssl_ed25519_verify(
                    hash, key, signature.baseAddress, signature.count, message.baseAddress, message.count) == 1
            }
        }
    }
}

extension SignatureAlgorithm {
    /// The hash of the message; nil for Ed25519, which hashes by itself.
    var digest: DigestAlgorithm? {
        switch self {
        case .rs256, .ps256, .es256: .sha256
        case .rs384, .es384: .sha384
        case .rs512: .sha512
        case .edDSA: nil
        }
    }

    /// The padding of RSA, in OpenSSL's numbers; 0 for other keys.
    var padding: Int32 {
        switch self {
        case .rs256, .rs384, .rs512: RSA_PKCS1_PADDING
        case .ps256: RSA_PKCS1_PSS_PADDING
        case .es256, .es384, .edDSA: 0
        }
    }

    /// The curve of ECDSA, and the length of its coordinates; nil for other keys.
    var curve: (name: String, octets: Int)? {
        switch self {
        case .es256, .es384: keyKind.curve
        case .rs256, .rs384, .rs512, .ps256, .edDSA: nil
        }
    }
}
