import OpenSSL
import Support
import Testing

@Suite("Digests, authentication codes and random bytes are those of OpenSSL")
struct DigestTests {
    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    ])
    func `SHA-256 has the values of FIPS 180`(text: String, hex: String) {
        #expect(SHA256.digest(Array(text.utf8)) == bytes(hex: hex))
    }

    @Test func `SHA-1 of FIPS 180-4, as names of certificates use it`() {
        #expect(SHA1.digest(Array("abc".utf8)) == bytes(hex: "a9993e364706816aba3e25717850c26c9cd0d89d"))
    }

    /// RFC 4231 section 4.3, and the empty key, whose code is that of a key of zeros.
    @Test func `HMAC has the values of RFC 4231`() {
        #expect(
            HMACSHA256.authenticate(key: Array("Jefe".utf8), message: Array("what do ya want for nothing?".utf8))
                == bytes(hex: "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"))
        #expect(
            HMACSHA256.authenticate(key: [], message: [])
                == bytes(hex: "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad"))
    }

    @Test func `Random bytes differ`() {
        #expect(SecureRandom.bytes(0).isEmpty)
        #expect(SecureRandom.bytes(32).count == 32)
        #expect(SecureRandom.bytes(32) != SecureRandom.bytes(32))
    }

    @Test func `A comparison in constant time sees every byte`() {
        #expect(ConstantTime.equal([], []))
        #expect(ConstantTime.equal([1, 2, 3], [1, 2, 3]))
        #expect(!ConstantTime.equal([1, 2, 3], [1, 2, 4]))
        #expect(!ConstantTime.equal([0, 2, 3], [1, 2, 3]))
        #expect(!ConstantTime.equal([1, 2], [1, 2, 3]))
        #expect(!ConstantTime.equal([], [0]))
    }
}
