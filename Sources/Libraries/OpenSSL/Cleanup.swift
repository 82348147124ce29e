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
