private import COpenSSL

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
