private import COpenSSL

/// The clean-up that libcrypto does when the process ends, unless it is switched off.
///
/// The clean-up frees locks while other threads may still be making a key, and the process then ends with a
/// segmentation fault instead of its exit code. Memory of a thread that ends a moment later is never freed.
package enum Cleanup {
    private static let isOff = OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil) == 1

    /// Switches the clean-up off; must come before any use of libcrypto, also by libcurl and libpq, to have an effect.
    package static func turnOff() {
        precondition(isOff, "libcrypto could not start")
    }
}

/// The version of the libcrypto that is loaded.
package var openSSLVersion: String { unsafe String(cString: OpenSSL_version(OPENSSL_VERSION_STRING)) }

/// OpenSSL's list of errors, of which each thread has one.
///
/// The list is cleared around every operation, so that a reason is never taken for the reason of a later failure.
enum ErrorQueue {
    /// Empties the list of this thread.
    static func clear() {
        ERR_clear_error()
    }

    /// Returns the oldest reason, as OpenSSL words it, and empties the list.
    static func drain() -> String {
        let code = ERR_get_error()
        ERR_clear_error()
        // The text is a constant of the library, not ours to free.
        guard code != 0, let reason = unsafe ERR_reason_error_string(code) else { return "no reason given" }
        return unsafe String(cString: reason)
    }
}

/// Owns one `EVP_PKEY` of any kind, which nothing changes: OpenSSL lets any thread copy from it and sign with it.
@safe struct KeyHandle: ~Copyable, @unchecked Sendable {
    let pointer: OpaquePointer

    init(takingOwnershipOf key: OpaquePointer) {
        unsafe pointer = key
    }

    deinit { unsafe EVP_PKEY_free(pointer) }

    /// Reads a private key of any kind in PEM, which must not be encrypted.
    static func reading(_ pem: String) throws(ServerCredentialsError) -> KeyHandle {
        Cleanup.turnOff()
        var text = pem
        var isEncrypted: Int32 = 0
        // The text is borrowed for the call.
        let key = text.withUTF8 { bytes in
            unsafe bytes.withMemoryRebound(to: CChar.self) { characters in
                unsafe copenssl_private_key_read(characters.baseAddress, characters.count, &isEncrypted)
            }
        }
        guard let key = unsafe key else { throw isEncrypted == 1 ? .encryptedKey : .unreadableKey }
        return unsafe KeyHandle(takingOwnershipOf: key)
    }

    /// A private key as PKCS #8 in PEM, unencrypted.
    var pem: String? {
        unsafe MemoryText.written { unsafe PEM_write_bio_PrivateKey($0, pointer, nil, nil, 0, nil, nil) }
    }

    var isRSA: Bool { unsafe EVP_PKEY_is_a(pointer, "RSA") == 1 }

    /// Returns a number of an RSA key by the name of its parameter, which is only read during the call.
    func number(_ name: String) -> [UInt8] {
        var found: OpaquePointer?
        guard unsafe EVP_PKEY_get_bn_param(pointer, name, &found) == 1, let number = unsafe found else {
            preconditionFailure("an RSA key has a modulus and an exponent")
        }
        defer { unsafe BN_clear_free(number) }
        let count = Int(unsafe copenssl_number_count(number))
        return unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            filled = Int(unsafe BN_bn2bin(number, buffer.baseAddress))
        }
    }
}

/// Texts that OpenSSL writes to memory.
enum MemoryText {
    /// Returns the text that the body writes to a BIO; nil if the body fails, which then does not answer 1.
    static func written(_ write: (OpaquePointer) -> Int32) -> String? {
        guard let bio = unsafe BIO_new(BIO_s_mem()) else { return nil }
        defer { unsafe BIO_free(bio) }
        guard unsafe write(bio) == 1 else { return nil }
        // The bytes belong to the BIO, and the string copies them.
        var start: UnsafePointer<CChar>?
        let count = unsafe copenssl_bio_bytes(bio, &start)
        return unsafe String(decoding: UnsafeRawBufferPointer(start: start, count: count), as: UTF8.self)
    }
}
