private import Glibc

/// Returns nanoseconds of the monotonic clock for deadlines: a few milliseconds late, but read in a few nanoseconds.
func coarseNanoseconds() -> UInt64 {
    var now = timespec()
    _ = unsafe clock_gettime(CLOCK_MONOTONIC_COARSE, &now)
    return UInt64(now.tv_sec) &* 1_000_000_000 &+ UInt64(now.tv_nsec)
}
