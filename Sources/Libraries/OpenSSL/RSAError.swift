/// Why a key cannot be used.
package enum RSAError: Error, Equatable, Sendable {
    /// The modulus is empty, or has too few or too many bits; a key must have 2048 to 8192.
    case modulusSize(bits: Int)
    case evenModulus
    /// The modulus or the exponent begins with a zero octet, so it is not the shortest form.
    case leadingZero
    /// The exponent is even, below 3, or not below 2^32.
    case exponent
    /// OpenSSL finds the public key unsound.
    case unsound
    /// There is no unencrypted private RSA key in the text.
    case notPrivateKey
    /// OpenSSL failed, for this reason in its own words.
    case library(String)
}
