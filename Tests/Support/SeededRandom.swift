import Glibc
import Platform

/// How many times as much as usual a random test tries: `TEST_TIMES`.
package let testTimes = ProcessFacts.environment["TEST_TIMES"].flatMap { Int($0) } ?? 1

/// Reproducible random numbers: SplitMix64, from a seed that is printed and that `TEST_SEED` sets.
package struct SeededRandom: RandomNumberGenerator {
    /// The seed of this run.
    package let seed: UInt64
    private var state: UInt64

    /// Makes a generator from this seed, or else from `TEST_SEED`, or else from a new seed.
    package init(seed given: UInt64? = nil, for test: String = #function) {
        let variable = unsafe getenv("TEST_SEED").flatMap { unsafe UInt64(String(cString: $0)) }
        seed = given ?? variable ?? UInt64.random(in: 0...UInt64.max)
        state = seed
        print("\(test): TEST_SEED=\(seed)")
    }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
