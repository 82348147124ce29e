private import COpenSSL

/// A hash function, which is fetched once for the process and never freed.
///
/// The struct is unchecked, because OpenSSL does not change an `EVP_MD` after the fetch, so any thread may read it.
@safe struct DigestAlgorithm: @unchecked Sendable {
    static let sha1 = DigestAlgorithm("SHA1", byteCount: 20)
    static let sha256 = DigestAlgorithm("SHA256", byteCount: 32)
    static let sha384 = DigestAlgorithm("SHA384", byteCount: 48)
    static let sha512 = DigestAlgorithm("SHA512", byteCount: 64)

    let method: OpaquePointer
    let byteCount: Int

    private init(_ name: String, byteCount: Int) {
        Cleanup.turnOff()
        // The name is only read during the call.
        guard let method = unsafe EVP_MD_fetch(nil, name, nil) else {
            preconditionFailure("this OpenSSL has no \(name): its configuration is broken")
        }
        unsafe self.method = method
        self.byteCount = byteCount
    }

    func digest(_ bytes: [UInt8]) -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: byteCount) { buffer, filled in
            // Message and digest are borrowed for the call.
            let done = unsafe bytes.withUnsafeBytes { message in
                unsafe EVP_Digest(message.baseAddress, message.count, buffer.baseAddress, nil, method, nil)
            }
            precondition(done == 1, "a digest cannot fail, unless memory ran out")
            filled = byteCount
        }
    }
}

package enum SHA256 {
    /// Returns the 32 bytes of the digest.
    package static func digest(_ bytes: [UInt8]) -> [UInt8] { DigestAlgorithm.sha256.digest(bytes) }
}

/// The hash function SHA-1: broken, and only for names that are defined by it (`x5t`, RFC 7517 section 4.8).
package enum SHA1 {
    /// Returns the 20 bytes of the digest.
    package static func digest(_ bytes: [UInt8]) -> [UInt8] { DigestAlgorithm.sha1.digest(bytes) }
}

/// The message authentication code of RFC 2104 over SHA-256.
///
/// Only mock-authority uses it, to make bad tokens (`alg: HS256`) on request. The server checks no token by it (V-22).
package enum HMACSHA256 {
    /// Returns the 32 bytes of the code.
    package static func authenticate(key: [UInt8], message: [UInt8]) -> [UInt8] {
        Cleanup.turnOff()
        // An empty array has no address, and OpenSSL takes a missing key for a key still to be set.
        let key = key.isEmpty ? [0] : key
        return unsafe [UInt8](unsafeUninitializedCapacity: 32) { buffer, count in
            // Key, message and code are borrowed for the call.
            let done = unsafe key.withUnsafeBufferPointer { key in
                unsafe message.withUnsafeBufferPointer { message in
                    unsafe copenssl_hmac_sha256(
                        key.baseAddress, key.count, message.baseAddress, message.count, buffer.baseAddress)
                }
            }
            precondition(done == 1, "HMAC cannot fail, unless memory ran out")
            count = 32
        }
    }
}

package enum ConstantTime {
    /// Returns whether the bytes are the same; the time taken depends on the lengths only.
    package static func equal(_ a: [UInt8], _ b: [UInt8]) -> Bool {
        guard a.count == b.count else { return false }
        guard !a.isEmpty else { return true }
        return unsafe a.withUnsafeBytes { left in
            // Both are borrowed for the call.
            unsafe b.withUnsafeBytes { right in unsafe CRYPTO_memcmp(left.baseAddress, right.baseAddress, left.count) }
        } == 0
    }
}

package enum SecureRandom {
    /// Returns this many bytes of OpenSSL's generator, which reseeds itself from the system.
    ///
    /// Without randomness the process ends: predictable bytes would be worse.
    package static func bytes(_ count: Int) -> [UInt8] {
        precondition(count >= 0 && count <= 1 << 20, "ask for at most a mebibyte")
        Cleanup.turnOff()
        return unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            // The buffer is borrowed for the call.
            let done = count == 0 ? 1 : unsafe RAND_bytes(buffer.baseAddress, Int32(count))
            precondition(done == 1, "the system has no randomness")
            filled = count
        }
    }
}
