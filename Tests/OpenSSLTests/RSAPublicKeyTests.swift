import OpenSSL
import Support
import Testing

@Suite("A public key is admitted only if it is sound (V-37)", .timeLimit(.minutes(15)))
struct RSAPublicKeyTests {
    let modulus = SigningKey.shared.modulus
    let exponent: [UInt8] = [1, 0, 1]

    @Test("A good key is admitted")
    func aGoodKeyIsAdmitted() throws {
        let key = try RSAPublicKey(modulus: modulus, exponent: exponent)
        #expect(key.modulusBits == 2048)
        #expect(key.modulusLength == 256)
    }

    @Test("A modulus has 2048 to 8192 bits")
    func sizeHasBounds() {
        #expect(throws: RSAError.modulusSize(bits: 0)) { try RSAPublicKey(modulus: [], exponent: exponent) }
        #expect(throws: RSAError.modulusSize(bits: 1024)) {
            try RSAPublicKey(modulus: SigningKey.made(bits: 1024).modulus, exponent: exponent)
        }
        // One bit short, in as many octets.
        #expect(throws: RSAError.modulusSize(bits: 2047)) {
            try RSAPublicKey(modulus: [0x7F] + modulus.dropFirst(), exponent: exponent)
        }
        #expect(throws: RSAError.modulusSize(bits: 8193)) {
            try RSAPublicKey(modulus: [1] + [UInt8](repeating: 0xFF, count: 1024), exponent: exponent)
        }
    }

    @Test("An even modulus is refused")
    func evenModulusIsRefused() {
        #expect(throws: RSAError.evenModulus) {
            try RSAPublicKey(modulus: modulus.dropLast() + [0x10], exponent: exponent)
        }
    }

    @Test("Leading zeros are refused")
    func leadingZerosAreRefused() {
        #expect(throws: RSAError.leadingZero) { try RSAPublicKey(modulus: [0] + modulus, exponent: exponent) }
        #expect(throws: RSAError.leadingZero) { try RSAPublicKey(modulus: modulus, exponent: [0, 1, 0, 1]) }
        #expect(throws: RSAError.leadingZero) { try RSAPublicKey(modulus: modulus, exponent: [0]) }
    }

    @Test(
        "Weak exponents are refused",
        arguments: [[], [1], [2], [4], [1, 0, 0], [1, 0, 0, 0, 1]] as [[UInt8]])
    func weakExponentsAreRefused(exponent: [UInt8]) {
        #expect(throws: RSAError.exponent) { try RSAPublicKey(modulus: modulus, exponent: exponent) }
    }

    @Test(
        "Odd exponents below the limit are accepted",
        arguments: [[3], [17], [0xFF, 0xFF, 0xFF, 0xFF]] as [[UInt8]])
    func oddExponentsBelowTheLimitAreTaken(exponent: [UInt8]) throws {
        let key = try RSAPublicKey(modulus: modulus, exponent: exponent)
        #expect(key.modulusBits == 2048)
    }

    @Test("An unsound modulus is refused")
    func unsoundModulusIsRefused() {
        // Divisible by 3: every octet 0xFF makes 2^2048 - 1.
        #expect(throws: RSAError.unsound) {
            try RSAPublicKey(modulus: [UInt8](repeating: 0xFF, count: 256), exponent: exponent)
        }
    }

    @Test("Many threads verify at the same time")
    func manyThreadsCheckAtTheSameTime() async throws {
        let key = try SigningKey.shared.publicKey()
        let message = Array("many threads".utf8)
        let signature = try SigningKey.shared.sign(message)
        let forged = try SigningKey.other.sign(message)
        let results = await withTaskGroup(of: (good: Bool, bad: Bool).self) { group in
            for _ in 0..<64 {
                group.addTask {
                    (key.verifies(signature: signature, of: message), key.verifies(signature: forged, of: message))
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(results.count == 64)
        #expect(results.allSatisfy { $0.good && !$0.bad })
    }
}
