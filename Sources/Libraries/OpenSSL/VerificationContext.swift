import Basics
private import COpenSSL

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
