private import COpenSSL

/// What libcrypto does when the process ends.
///
/// Left alone, it frees its locks while other threads may still be making a key, which then ends the process with a
/// segmentation fault instead of its exit code. And what it keeps for a thread that ends a moment later is never freed.
package enum Cleanup {
    private static let isOff = OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil) == 1

    /// Before any use of libcrypto, also by libcurl and libpq: only the first use of all can say it.
    package static func turnOff() {
        precondition(isOff, "libcrypto could not start")
    }
}
