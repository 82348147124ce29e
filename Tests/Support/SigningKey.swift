import OpenSSL

/// RSA keys for tests, made once a process: generating one takes a tenth of a second.
package enum SigningKey {
    /// The key that signs good tokens, of 2048 bits.
    package static let shared = made(bits: 2048)
    /// Another key of the same size, for forgeries and rotations.
    package static let other = made(bits: 2048)

    /// A new key.
    package static func made(bits: Int) -> PrivateKey {
        do throws(PrivateKeyError) {
            return try PrivateKey.generate(bits: bits)
        } catch {
            preconditionFailure("no key for the tests: \(error)")
        }
    }
}
