private import COpenSSL

/// What libcrypto does when the process ends.
enum Cleanup {
    /// Nothing, once this has been read before any other use of libcrypto.
    ///
    /// Left alone, it frees its locks while other threads may still be making a key, which then ends the process with a
    /// segmentation fault instead of its exit code.
    static let isOff: Bool = OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil) == 1
}
