private import Glibc

/// Returns nanoseconds of the monotonic clock for deadlines: a few milliseconds late, but read in a few nanoseconds.
func coarseNanoseconds() -> UInt64 {
    var now = timespec()
    _ = unsafe clock_gettime(CLOCK_MONOTONIC_COARSE, &now)
    return UInt64(now.tv_sec) &* 1_000_000_000 &+ UInt64(now.tv_nsec)
}

extension Double {
    /// These seconds as nanoseconds, for any number: a negative or undefined one gives 0, an infinite one years.
    var nanoseconds: UInt64 { isNaN ? 0 : UInt64(Swift.min(Swift.max(self, 0), 1e9) * 1e9) }
}
