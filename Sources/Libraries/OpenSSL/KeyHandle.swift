private import COpenSSL

/// Owns one `EVP_PKEY` of any kind, which nothing changes: OpenSSL lets any thread copy from it and sign with it.
@safe struct KeyHandle: ~Copyable, @unchecked Sendable {
    let pointer: OpaquePointer

    init(takingOwnershipOf key: OpaquePointer) {
        unsafe pointer = key
    }

    deinit { unsafe EVP_PKEY_free(pointer) }

    /// A private key as PKCS #8 in PEM, unencrypted.
    var pem: String? { unsafe MemoryText.taking(copenssl_private_key_write(pointer)) }
}
