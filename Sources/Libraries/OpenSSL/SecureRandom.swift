private import COpenSSL

/// Unpredictable random bytes.
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
