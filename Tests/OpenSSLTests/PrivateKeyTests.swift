import Basics
import OpenSSL
import Support
import Testing

@Suite("A private key signs, and is written and read as PEM")
struct PrivateKeyTests {
    let message = Array("message".utf8)

    @Test func `A key is the same after it was written and read as PEM`() throws {
        let pem = SigningKey.shared.pem
        #expect(pem.hasPrefix("-----BEGIN PRIVATE KEY-----\n"))
        let copy = try PrivateKey(pem: pem)
        #expect(copy.modulus == SigningKey.shared.modulus)
        #expect(copy.exponent == [1, 0, 1])
        #expect(try SigningKey.shared.publicKey().verifies(signature: copy.sign(message), of: message))
    }

    @Test(arguments: ["", "no key", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"])
    func `Other texts are no key`(pem: String) {
        #expect(throws: PrivateKeyError.notPrivateKey) { try PrivateKey(pem: pem) }
    }

    @Test(
        "A key that is encrypted, or of another kind, is refused without a question on the terminal",
        arguments: [
            ["genrsa", "-aes128", "-passout", "pass:x", "2048"],
            ["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"],
        ])
    func otherKeysAreRefused(arguments: [String]) throws {
        let pem = try ChildProcess.run("/usr/bin/openssl", arguments)
        #expect(pem.contains("PRIVATE KEY-----"))
        #expect(throws: PrivateKeyError.notPrivateKey) { try PrivateKey(pem: pem) }
    }

    @Test(arguments: SignatureAlgorithm.allCases)
    func `Each algorithm signs what it alone verifies`(algorithm: SignatureAlgorithm) throws {
        let key = try PrivateKey.generate(algorithm)
        let signature = try key.sign(message)
        for other in SignatureAlgorithm.allCases {
            guard let publicKey = try? key.publicKey(for: other) else {
                #expect(other.keyKind != algorithm.keyKind)
                continue
            }
            #expect(other.keyKind == algorithm.keyKind)
            #expect(signature.count == publicKey.signatureLength)
            // Twice, because a context is used again.
            for _ in 1...2 {
                #expect(publicKey.verifies(signature: signature, of: message) == (other == algorithm), "\(other)")
                #expect(!publicKey.verifies(signature: signature, of: message + [0]))
            }
        }
    }

    @Test func `Sizes outside of the limits are refused`() {
        #expect(throws: PrivateKeyError.modulusSize(bits: 512)) { try PrivateKey.generate(bits: 512) }
        #expect(throws: PrivateKeyError.modulusSize(bits: 16384)) { try PrivateKey.generate(bits: 16384) }
    }
}
