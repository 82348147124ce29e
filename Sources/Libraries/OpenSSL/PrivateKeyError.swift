/// Why a private key cannot be made, read or used.
package enum PrivateKeyError: Error, Equatable, Sendable {
    /// A modulus of this size is not made; a key has 1024 to 8192 bits.
    case modulusSize(bits: Int)
    /// There is no unencrypted private key in the text, or a key of another kind than the algorithm's.
    case notPrivateKey
    /// OpenSSL failed, for this reason in its own words.
    case library(String)
}
