internal import OpenSSL

/// The public half of a key as other tools write it: SubjectPublicKeyInfo in PEM (RFC 5280 section 4.1, RFC 7468).
enum PublicKeyText {
    /// The text, markers and all.
    static func pem(of key: RSAPrivateKey) -> String {
        let digits = Array(Base64.encode(information(of: key)).utf8)
        let lines = stride(from: 0, to: digits.count, by: 64).map { start in
            String(decoding: digits[start..<min(start + 64, digits.count)], as: UTF8.self)
        }
        return (["-----BEGIN PUBLIC KEY-----"] + lines + ["-----END PUBLIC KEY-----"]).joined(separator: "\n") + "\n"
    }

    private static func information(of key: RSAPrivateKey) -> [UInt8] {
        let rsaEncryption: [UInt8] = [0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01]
        let algorithm = element(0x30, rsaEncryption + [0x05, 0x00])
        let numbers = element(0x30, integer(key.modulus) + integer(key.exponent))
        return element(0x30, algorithm + element(0x03, [0] + numbers))
    }

    /// A DER integer: a leading zero keeps it positive.
    private static func integer(_ magnitude: [UInt8]) -> [UInt8] {
        element(0x02, (magnitude.first ?? 0) & 0x80 == 0 ? magnitude : [0] + magnitude)
    }

    private static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        [tag] + length(content.count) + content
    }

    private static func length(_ count: Int) -> [UInt8] {
        if count < 0x80 { return [UInt8(count)] }
        let octets = count < 0x100 ? [UInt8(count)] : [UInt8(count >> 8), UInt8(count & 0xFF)]
        return [0x80 | UInt8(octets.count)] + octets
    }
}
