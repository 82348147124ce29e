import Basics
import OpenSSL
import Support
import Testing

@Suite("A public key is admitted only if it is sound (V-37)")
struct PublicKeyTests {
    let modulus = SigningKey.shared.modulus
    let exponent: [UInt8] = [1, 0, 1]

    private func rsaKey(modulus: [UInt8], exponent: [UInt8]) throws(PublicKeyError) -> PublicKey {
        try PublicKey(.rsa(modulus: modulus, exponent: exponent), for: .rs256)
    }

    @Test(arguments: [[1, 0, 1], [3], [17], [0xFF, 0xFF, 0xFF, 0xFF]] as [[UInt8]])
    func `A good key with an odd exponent is admitted`(exponent: [UInt8]) throws {
        let key = try rsaKey(modulus: modulus, exponent: exponent)
        #expect(key.signatureLength == 256)
    }

    /// Every octet 0xFF makes 2^2048 - 1, which 3 divides.
    @Test(arguments: [String(repeating: "ff", count: 256), Self.prime, Self.square])
    func `A modulus with a small factor, a prime, or the square of one is refused`(modulus: String) throws {
        let modulus = try #require(bytes(hex: modulus))
        #expect(modulus.count == 256)
        #expect(throws: PublicKeyError.unsound) { try rsaKey(modulus: modulus, exponent: exponent) }
    }

    @Test(arguments: SignatureAlgorithm.allCases)
    func `A key is refused for an algorithm of another kind or curve`(algorithm: SignatureAlgorithm) throws {
        let numbers = try PrivateKey.generate(algorithm).numbers
        for other in SignatureAlgorithm.allCases where other.keyKind != algorithm.keyKind {
            let areCurves = algorithm.isOfCurve && other.isOfCurve
            #expect(throws: areCurves ? PublicKeyError.point : .otherKind) { try PublicKey(numbers, for: other) }
        }
    }

    @Test(arguments: [SignatureAlgorithm.es256, .es384])
    func `A point that is not on the curve, or of another length, is refused`(algorithm: SignatureAlgorithm) throws {
        guard case .ec(let x, let y) = try PrivateKey.generate(algorithm).numbers else {
            Issue.record("no point")
            return
        }
        let zeros = [UInt8](repeating: 0, count: x.count)
        let beside = Array(y.dropLast()) + [(y.last ?? 0) ^ 1]
        let short = Array(x.dropLast())
        let points = [(x, beside), (zeros, zeros), (x, zeros), ([0] + x, y), (x, [0] + y), (short, y), ([], [])]
        for (x, y) in points {
            #expect(throws: PublicKeyError.point) { try PublicKey(.ec(x: x, y: y), for: algorithm) }
        }
    }

    @Test func `A point of Ed25519 of small order is refused, and one of another length`() throws {
        let ordersOfEight = [
            "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
            "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
        ]
        let middle = String(repeating: "0", count: 60)
        let full = String(repeating: "f", count: 60)
        let small =
            ordersOfEight + ["00\(middle)00", "01\(middle)00", "01\(middle)80"]
            + ["ec", "ed", "ee"].map { "\($0)\(full)7f" }
        for point in small {
            let point = try #require(bytes(hex: point))
            #expect(throws: PublicKeyError.unsound) { try PublicKey(.ed25519(point), for: .edDSA) }
            #expect(throws: PublicKeyError.point) { try PublicKey(.ed25519(point + [0]), for: .edDSA) }
        }
    }

    /// RFC 3526 section 3.
    private static let prime = """
        ffffffffffffffffc90fdaa22168c234c4c6628b80dc1cd129024e088a67cc74020bbea63b139b22514a08798e3404ddef9519b3\
        cd3a431b302b0a6df25f14374fe1356d6d51c245e485b576625e7ec6f44c42e9a637ed6b0bff5cb6f406b7edee386bfb5a899fa5\
        ae9f24117c4b1fe649286651ece45b3dc2007cb8a163bf0598da48361c55d39a69163fa8fd24cf5f83655d23dca3ad961c62f356\
        208552bb9ed529077096966d670c354e4abc9804f1746c08ca18217c32905e462e36ce3be39e772c180e86039b2783a2ec07a28f\
        b5c55df06f4c52c9de2bcbf6955817183995497cea956ae515d2261898fa051015728e5a8aacaa68ffffffffffffffff
        """

    /// The square of the prime of RFC 2409 section 6.2.
    private static let square = """
        ffffffffffffffff921fb54442d184699556f620b115a80b1f5a43d393a37a0cba694b7b42283f8504feb4a8fa080a06ad9fd90c\
        c3df8dcba988d9153adda61b3f58a9ca013666664e95cc8efd32f3851241e9a23e32083c65e695bef27bf7caa26ef814ca0fae5b\
        fbac779564030f13a8ca2fdde22b0cf114c2a635dc1f2d1dc0ca825439ec8a2904208c18020acb48a8037947a0b9e31285367817\
        f89b9ec170affb82e3dbfca0db7153d12d8d0c21ae3aae145d2e1ee9b067f5b48bafa35a10ccba67fcd2408f536d2998aa6fce08\
        04595dc5e0bcfc56649487feb573488578e682787acb10e62ee7a152e03f4e376daf335c263358fc0000000000000001
        """
}

extension SignatureAlgorithm {
    fileprivate var isOfCurve: Bool { keyKind == .p256 || keyKind == .p384 }
}
