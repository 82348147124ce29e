private import COpenSSL

/// A hash function of the SHA-2 family, for signatures.
enum DigestAlgorithm: Sendable {
    case sha256, sha384, sha512

    /// The bytes of a digest.
    var byteCount: Int {
        switch self {
        case .sha256: 32
        case .sha384: 48
        case .sha512: 64
        }
    }

    /// The method, fetched once for the process; it is never freed.
    var method: OpaquePointer {
        switch self {
        case .sha256: unsafe DigestMethod.sha256.pointer
        case .sha384: unsafe DigestMethod.sha384.pointer
        case .sha512: unsafe DigestMethod.sha512.pointer
        }
    }
}

/// A fetched `EVP_MD`: immutable after the fetch, so any thread may read it.
@safe private struct DigestMethod: @unchecked Sendable {
    let pointer: OpaquePointer

    static let sha256 = DigestMethod("SHA256")
    static let sha384 = DigestMethod("SHA384")
    static let sha512 = DigestMethod("SHA512")
    static let sha1 = DigestMethod("SHA1")

    private init(_ name: String) {
        Cleanup.turnOff()
        // The name is only read during the call.
        guard let method = unsafe EVP_MD_fetch(nil, name, nil) else {
            preconditionFailure("this OpenSSL has no \(name): its configuration is broken")
        }
        unsafe pointer = method
    }

    /// Returns the digest, which has this many bytes.
    func digest(_ bytes: [UInt8], count: Int) -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            // Message and digest are borrowed for the call.
            let done = unsafe bytes.withUnsafeBytes { message in
                unsafe EVP_Digest(message.baseAddress, message.count, buffer.baseAddress, nil, pointer, nil)
            }
            precondition(done == 1, "a digest cannot fail, unless memory ran out")
            filled = count
        }
    }
}

/// The hash function SHA-256.
package enum SHA256 {
    /// Returns the 32 bytes of the digest.
    package static func digest(_ bytes: [UInt8]) -> [UInt8] { DigestMethod.sha256.digest(bytes, count: 32) }
}

/// The hash function SHA-1: broken, and only for names that are defined by it (`x5t`, RFC 7517 section 4.8).
package enum SHA1 {
    /// Returns the 20 bytes of the digest.
    package static func digest(_ bytes: [UInt8]) -> [UInt8] { DigestMethod.sha1.digest(bytes, count: 20) }
}
