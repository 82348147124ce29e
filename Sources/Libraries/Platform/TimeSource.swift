private import Glibc

/// The clocks of the program, which tests can set.
///
/// Claims are checked against the wall clock, which is read for each request. Timers and ages use the monotonic clock,
/// which no administrator can set (V-64).
package protocol TimeSource: Sendable {
    /// Milliseconds since 1970-01-01T00:00:00Z, UTC.
    var wallMilliseconds: Int64 { get }
    /// Nanoseconds since some point in the past, which never go back.
    var monotonicNanoseconds: UInt64 { get }
}

package struct SystemTime: TimeSource {
    package init() {}

    package var wallMilliseconds: Int64 {
        let now = Self.read(CLOCK_REALTIME)
        return Int64(now.tv_sec) * 1000 + Int64(now.tv_nsec) / 1_000_000
    }

    package var monotonicNanoseconds: UInt64 {
        let now = Self.read(CLOCK_MONOTONIC)
        return UInt64(now.tv_sec) * 1_000_000_000 + UInt64(now.tv_nsec)
    }

    /// Suspends the calling thread for about this long.
    package func sleep(nanoseconds: UInt64) {
        var time = timespec(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
        var rest = timespec()
        while unsafe nanosleep(&time, &rest) != 0, errno == EINTR { time = rest }
    }

    private static func read(_ clock: clockid_t) -> timespec {
        var now = timespec()
        _ = unsafe clock_gettime(clock, &now)
        return now
    }
}
