private import COpenSSL

/// A hash function, which is fetched once for the process and never freed.
///
/// It is unchecked, because OpenSSL does not change an `EVP_MD` after the fetch, so any thread may read it.
@safe struct DigestAlgorithm: @unchecked Sendable {
    static let sha1 = DigestAlgorithm("SHA1", byteCount: 20)
    static let sha256 = DigestAlgorithm("SHA256", byteCount: 32)
    static let sha384 = DigestAlgorithm("SHA384", byteCount: 48)
    static let sha512 = DigestAlgorithm("SHA512", byteCount: 64)

    let method: OpaquePointer
    /// The bytes of a digest.
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

/// The hash function SHA-256.
package enum SHA256 {
    /// Returns the 32 bytes of the digest.
    package static func digest(_ bytes: [UInt8]) -> [UInt8] { DigestAlgorithm.sha256.digest(bytes) }
}

/// The hash function SHA-1: broken, and only for names that are defined by it (`x5t`, RFC 7517 section 4.8).
package enum SHA1 {
    /// Returns the 20 bytes of the digest.
    package static func digest(_ bytes: [UInt8]) -> [UInt8] { DigestAlgorithm.sha1.digest(bytes) }
}
