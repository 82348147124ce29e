private import COpenSSL

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
