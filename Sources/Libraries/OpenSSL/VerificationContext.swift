private import COpenSSL

/// One prepared verification: a hash context, and a signature context on its own copy of the key.
///
/// Preparing costs as much as a third of the check itself, and a key object that two threads share slows both. So each
/// context owns a copy, is prepared once and used again. ``RSAPublicKey`` hands each context to one caller at a time,
/// and that makes the unchecked conformance true.
@safe final class VerificationContext: @unchecked Sendable {
    /// An `EVP_PKEY` that the context owns.
    private let key: OpaquePointer
    /// An `EVP_PKEY_CTX` that the context owns, and that counts its own reference on `key`.
    private let verifier: OpaquePointer
    /// An `EVP_MD_CTX` that the context owns.
    private let hash: OpaquePointer

    /// Creates a context on a copy of the caller's key; nil if memory ran out.
    init?(copying original: OpaquePointer) {
        guard let key = unsafe EVP_PKEY_dup(original) else { return nil }
        guard let verifier = unsafe copenssl_pkcs1_verifier(key, DigestAlgorithm.sha256.method) else {
            unsafe EVP_PKEY_free(key)
            return nil
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
    func verifies(signature: Span<UInt8>, of message: Span<UInt8>) -> Bool {
        var digest = InlineArray<32, UInt8>(repeating: 0)
        var bytes = digest.mutableSpan
        // Every pointer is borrowed for its call; the method is the process's own.
        return unsafe bytes.withUnsafeMutableBufferPointer { digest in
            let hashed = unsafe message.withUnsafeBufferPointer { message in
                unsafe EVP_DigestInit_ex2(hash, DigestAlgorithm.sha256.method, nil) == 1
                    && EVP_DigestUpdate(hash, message.baseAddress, message.count) == 1
                    && EVP_DigestFinal_ex(hash, digest.baseAddress, nil) == 1
            }
            return unsafe signature.withUnsafeBufferPointer { signature in
                unsafe hashed
                    && EVP_PKEY_verify(
                        verifier, signature.baseAddress, signature.count, digest.baseAddress, digest.count) == 1
            }
        }
    }
}
