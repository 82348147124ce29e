private import Glibc

/// Nanoseconds of the monotonic clock, a few milliseconds late but read in a few nanoseconds: made for deadlines.
func coarseNanoseconds() -> UInt64 {
    var now = timespec()
    _ = unsafe clock_gettime(CLOCK_MONOTONIC_COARSE, &now)
    return UInt64(now.tv_sec) &* 1_000_000_000 &+ UInt64(now.tv_nsec)
}

extension Double {
    /// These seconds as nanoseconds, whatever they are: negative ones and no number are 0, endless ones are years.
    var nanoseconds: UInt64 { isNaN ? 0 : UInt64(Swift.min(Swift.max(self, 0), 1e9) * 1e9) }
}
