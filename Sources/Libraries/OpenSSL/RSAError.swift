/// Why a key cannot be used.
package enum RSAError: Error, Equatable, Sendable {
    /// The modulus has too few or too many bits, or is empty; the keys taken have 2048 to 8192.
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
    /// OpenSSL failed; the reason as OpenSSL words it.
    case library(String)
}
