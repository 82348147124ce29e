private import COpenSSL

/// Comparison of secrets.
package enum ConstantTime {
    /// Whether the bytes are the same; the time taken tells the lengths and nothing else.
    package static func equal(_ a: [UInt8], _ b: [UInt8]) -> Bool {
        guard a.count == b.count else { return false }
        guard !a.isEmpty else { return true }
        return unsafe a.withUnsafeBytes { left in
            // Both are borrowed for the call.
            unsafe b.withUnsafeBytes { right in unsafe CRYPTO_memcmp(left.baseAddress, right.baseAddress, left.count) }
        } == 0
    }
}
