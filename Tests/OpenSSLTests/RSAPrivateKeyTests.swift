import OpenSSL
import Support
import Testing

@Suite("A private key signs, and survives its way through PEM")
struct RSAPrivateKeyTests {
    let message = Array("message".utf8)

    @Test func pemRoundTrip() throws {
        let pem = SigningKey.shared.pem
        #expect(pem.hasPrefix("-----BEGIN PRIVATE KEY-----\n"))
        let copy = try RSAPrivateKey(pem: pem)
        #expect(copy.modulus == SigningKey.shared.modulus)
        #expect(copy.exponent == [1, 0, 1])
        #expect(try SigningKey.shared.publicKey().verifies(signature: copy.sign(message), of: message))
    }

    @Test(arguments: ["", "no key", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"])
    func otherTextIsNoKey(pem: String) {
        #expect(throws: RSAError.notPrivateKey) { try RSAPrivateKey(pem: pem) }
    }

    @Test func encryptedKeyIsRefusedWithoutAskingTheTerminal() {
        #expect(throws: RSAError.notPrivateKey) { try RSAPrivateKey(pem: Self.encrypted) }
    }

    @Test func keyOfAnotherKindIsRefused() {
        #expect(throws: RSAError.notPrivateKey) { try RSAPrivateKey(pem: Self.ellipticCurve) }
    }

    @Test func otherDigestsMakeOtherSignatures() throws {
        let key = try SigningKey.shared.publicKey()
        for digest in DigestAlgorithm.allCases {
            let signature = try SigningKey.shared.sign(message, digest: digest)
            #expect(signature.count == 256)
            #expect(key.verifies(signature: signature, of: message) == (digest == .sha256))
        }
    }

    @Test func sizesOutsideTheLimitsAreRefused() {
        #expect(throws: RSAError.modulusSize(bits: 512)) { try RSAPrivateKey.generate(bits: 512) }
        #expect(throws: RSAError.modulusSize(bits: 16384)) { try RSAPrivateKey.generate(bits: 16384) }
    }
}
