private import COpenSSL

/// A private RSA key, with which mock-authority and tests sign tokens.
///
/// The server holds no such key. The key is immutable, and any thread may sign.
package final class RSAPrivateKey: Sendable {
    let handle: KeyHandle

    private init(_ handle: consuming KeyHandle) {
        self.handle = handle
    }

    /// Makes a new key.
    ///
    /// - Parameter bits: the size of the modulus, 1024 to 8192; below 2048 only for keys that must be refused.
    /// - Throws: ``RSAError/modulusSize(bits:)`` or OpenSSL's failure.
    /// - Returns: the key.
    package static func generate(bits: Int = 2048) throws(RSAError) -> RSAPrivateKey {
        guard (1024...8192).contains(bits) else { throw .modulusSize(bits: bits) }
        Cleanup.turnOff()
        ErrorQueue.clear()
        guard let key = unsafe copenssl_rsa_generate(UInt32(bits)) else { throw .library(ErrorQueue.drain()) }
        return RSAPrivateKey(unsafe KeyHandle(takingOwnershipOf: key))
    }

    /// Reads an unencrypted key in PEM, PKCS #8 or PKCS #1.
    ///
    /// - Parameter pem: the text, with its markers.
    /// - Throws: ``RSAError/notPrivateKey``.
    package convenience init(pem: String) throws(RSAError) {
        var text = pem
        guard text.utf8.count <= 1 << 16 else { throw .notPrivateKey }
        Cleanup.turnOff()
        // The text is borrowed for the call.
        let key = text.withUTF8 { bytes in
            unsafe bytes.withMemoryRebound(to: CChar.self) { characters in
                unsafe copenssl_private_key_read(characters.baseAddress, characters.count)
            }
        }
        ErrorQueue.clear()
        guard let key = unsafe key else { throw .notPrivateKey }
        unsafe self.init(KeyHandle(takingOwnershipOf: key))
    }

    /// The key as PKCS #8 in PEM, unencrypted.
    package var pem: String {
        guard let text = handle.pem else {
            preconditionFailure("writing a key to memory cannot fail, unless memory ran out")
        }
        return text
    }

    /// The public half as SubjectPublicKeyInfo in PEM (RFC 5280 section 4.1).
    package var publicPEM: String {
        guard let text = unsafe MemoryText.taking(copenssl_public_key_write(handle.pointer)) else {
            preconditionFailure("writing a key to memory cannot fail, unless memory ran out")
        }
        return text
    }

    /// The modulus, big-endian, without leading zero octet.
    package var modulus: [UInt8] {
        unsafe Self.bytes(takingOwnershipOf: copenssl_rsa_modulus(handle.pointer))
    }

    /// The public exponent, big-endian, without leading zero octet.
    package var exponent: [UInt8] {
        unsafe Self.bytes(takingOwnershipOf: copenssl_rsa_exponent(handle.pointer))
    }

    /// Returns the public half.
    ///
    /// - Returns: the key that verifies.
    /// - Throws: ``RSAError`` when the key is too weak to be admitted.
    package func publicKey() throws(RSAError) -> RSAPublicKey {
        try RSAPublicKey(modulus: modulus, exponent: exponent)
    }

    /// Signs with RSASSA-PKCS1-v1_5.
    ///
    /// - Parameters:
    ///   - message: the message, which is not hashed yet.
    ///   - digest: the hash: SHA-256 makes RS256, SHA-512 makes RS512.
    /// - Returns: the signature, as long as the modulus.
    /// - Throws: OpenSSL's failure.
    package func sign(_ message: [UInt8], digest: DigestAlgorithm = .sha256) throws(RSAError) -> [UInt8] {
        ErrorQueue.clear()
        // The longest modulus taken has 1024 octets. Message and signature are borrowed for the call.
        var signature = [UInt8](repeating: 0, count: 1024)
        var count = signature.count
        let done = unsafe message.withUnsafeBufferPointer { message in
            unsafe signature.withUnsafeMutableBufferPointer { signature in
                unsafe copenssl_sign(
                    handle.pointer, digest.method, message.baseAddress, message.count, signature.baseAddress, &count)
            }
        }
        guard done == 1 else { throw .library(ErrorQueue.drain()) }
        return Array(signature.prefix(count))
    }

    private static func bytes(takingOwnershipOf number: OpaquePointer?) -> [UInt8] {
        guard let number = unsafe number else { preconditionFailure("an RSA key has a modulus and an exponent") }
        defer { unsafe BN_clear_free(number) }
        let count = Int(unsafe copenssl_number_count(number))
        return unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            filled = Int(unsafe BN_bn2bin(number, buffer.baseAddress))
        }
    }
}
