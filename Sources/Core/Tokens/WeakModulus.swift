/// Recognizes moduli of the broken key generator known as ROCA (CVE-2017-15361), which can be factored.
///
/// They are powers of 65537 modulo many small primes, as is one in 2^30 of random moduli.
enum WeakModulus {
    /// Returns whether the modulus, big-endian, has that fingerprint.
    static func isFactorable(_ modulus: [UInt8]) -> Bool {
        smallPrimes.allSatisfy { prime in
            let remainder = modulus.reduce(0) { ($0 << 8 | Int($1)) % prime }
            return powers(modulo: prime).contains(remainder)
        }
    }

    private static let smallPrimes = (3...167).filter { number in (2..<number).allSatisfy { number % $0 != 0 } }

    private static func powers(modulo prime: Int) -> Set<Int> {
        var powers: Set<Int> = []
        var power = 1
        while powers.insert(power).inserted {
            power = power * 65537 % prime
        }
        return powers
    }
}
