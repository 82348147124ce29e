import OpenSSL
import Support
import Testing

@Suite("A private key signs, and is written and read as PEM", .timeLimit(.minutes(15)))
struct RSAPrivateKeyTests {
    let message = Array("message".utf8)

    @Test("A key is the same after it was written and read as PEM")
    func pemRoundTrip() throws {
        let pem = SigningKey.shared.pem
        #expect(pem.hasPrefix("-----BEGIN PRIVATE KEY-----\n"))
        let copy = try RSAPrivateKey(pem: pem)
        #expect(copy.modulus == SigningKey.shared.modulus)
        #expect(copy.exponent == [1, 0, 1])
        #expect(try SigningKey.shared.publicKey().verifies(signature: copy.sign(message), of: message))
    }

    @Test(
        "Other texts are no key",
        arguments: ["", "no key", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"])
    func otherTextIsNoKey(pem: String) {
        #expect(throws: RSAError.notPrivateKey) { try RSAPrivateKey(pem: pem) }
    }

    @Test(
        "A key that is encrypted, or of another kind, is refused without a question on the terminal",
        arguments: [
            ["genrsa", "-aes128", "-passout", "pass:x", "2048"],
            ["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"],
        ])
    func otherKeysAreRefused(arguments: [String]) throws {
        let maker = try ChildProcess("/usr/bin/openssl", arguments)
        try #require(maker.wait() == .exit(0))
        #expect(maker.output.contains("PRIVATE KEY-----"))
        #expect(throws: RSAError.notPrivateKey) { try RSAPrivateKey(pem: maker.output) }
    }

    @Test("Other digests make other signatures")
    func otherDigestsMakeOtherSignatures() throws {
        let key = try SigningKey.shared.publicKey()
        for digest in DigestAlgorithm.allCases {
            let signature = try SigningKey.shared.sign(message, digest: digest)
            #expect(signature.count == 256)
            #expect(key.verifies(signature: signature, of: message) == (digest == .sha256))
        }
    }

    @Test("Sizes outside of the limits are refused")
    func sizesOutsideTheLimitsAreRefused() {
        #expect(throws: RSAError.modulusSize(bits: 512)) { try RSAPrivateKey.generate(bits: 512) }
        #expect(throws: RSAError.modulusSize(bits: 16384)) { try RSAPrivateKey.generate(bits: 16384) }
    }
}
