private import COpenSSL
private import Synchronization

/// A public RSA key that checks RS256 signatures.
///
/// The key is immutable to its users, and any number of threads may check at the same time.
package final class RSAPublicKey: Sendable {
    /// The octets of the modulus, which is the length of every signature.
    package let modulusLength: Int

    /// The contexts that are not in use, at most ``mostIdle``.
    private let idle: Mutex<[VerificationContext]>
    private let original: KeyHandle
    private static let mostIdle = 16

    /// Admits a key after checks of our own, before OpenSSL sees the key (V-37).
    ///
    /// OpenSSL alone takes empty and even moduli, and exponents of 1, under which a forgery verifies.
    ///
    /// - Parameters:
    ///   - modulus: big-endian, without leading zero octet, odd, of 2048 to 8192 bits.
    ///   - exponent: big-endian, without leading zero octet, odd, at least 3 and below 2^32.
    /// - Throws: ``RSAError``, which says which rule is broken.
    package init(modulus: [UInt8], exponent: [UInt8]) throws(RSAError) {
        try Self.checkModulus(modulus)
        modulusLength = modulus.count
        try Self.checkExponent(exponent)
        original = try Self.soundKey(modulus, exponent)
        guard let first = unsafe VerificationContext(copying: original.pointer) else {
            throw .library(ErrorQueue.drain())
        }
        idle = Mutex([first])
    }

    private static func checkModulus(_ modulus: [UInt8]) throws(RSAError) {
        guard let first = modulus.first, let last = modulus.last else { throw .modulusSize(bits: 0) }
        guard first != 0 else { throw .leadingZero }
        let bits = modulus.count * 8 - first.leadingZeroBitCount
        guard (2048...8192).contains(bits) else { throw .modulusSize(bits: bits) }
        guard last & 1 == 1 else { throw .evenModulus }
    }

    private static func checkExponent(_ exponent: [UInt8]) throws(RSAError) {
        guard exponent.first != 0 else { throw .leadingZero }
        guard exponent.count <= 4 else { throw .exponent }
        let value = exponent.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        guard value >= 3, value & 1 == 1 else { throw .exponent }
    }

    private static func soundKey(_ modulus: [UInt8], _ exponent: [UInt8]) throws(RSAError) -> KeyHandle {
        Cleanup.turnOff()
        ErrorQueue.clear()
        // Both are copied by the call.
        let built = unsafe modulus.withUnsafeBufferPointer { n in
            unsafe exponent.withUnsafeBufferPointer { e in
                unsafe copenssl_rsa_public_key(n.baseAddress, n.count, e.baseAddress, e.count)
            }
        }
        guard let built = unsafe built else { throw .library(ErrorQueue.drain()) }
        let key = unsafe KeyHandle(takingOwnershipOf: built)
        guard unsafe copenssl_public_check(key.pointer) == 1 else {
            ErrorQueue.clear()
            throw .unsound
        }
        return key
    }

    /// Returns whether this is the RSASSA-PKCS1-v1_5 signature over SHA-256 of the message (RFC 7518 section 3.3).
    ///
    /// The length must be that of the modulus (V-46), and the error queue is left empty (V-45).
    package func verifies(signature: Span<UInt8>, of message: Span<UInt8>) -> Bool {
        guard signature.count == modulusLength else { return false }
        let waiting = idle.withLock { $0.popLast() }
        guard let context = unsafe waiting ?? VerificationContext(copying: original.pointer) else {
            ErrorQueue.clear()
            return false
        }
        let good = context.verifies(signature: signature, of: message)
        if !good { ErrorQueue.clear() }
        idle.withLock { if $0.count < Self.mostIdle { $0.append(context) } }
        return good
    }

    package func verifies(signature: [UInt8], of message: [UInt8]) -> Bool {
        verifies(signature: signature.span, of: message.span)
    }

    package func verifies(signature: [UInt8], of message: ArraySlice<UInt8>) -> Bool {
        verifies(signature: signature.span, of: message.span)
    }
}
