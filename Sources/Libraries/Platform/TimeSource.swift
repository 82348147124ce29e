private import Glibc

/// The clocks of the program, which tests can set.
///
/// Claims are checked against the wall clock, which is read for each request. Timers and ages use the monotonic clock,
/// which no administrator can set, and which goes on while the machine sleeps (V-64).
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
        Self.nanoseconds(CLOCK_BOOTTIME)
    }

    /// Nanoseconds of the clock that stands still while the machine sleeps: condition variables and systemd use it.
    static var awakeNanoseconds: UInt64 { nanoseconds(CLOCK_MONOTONIC) }

    /// Suspends the calling thread for about this long.
    package func sleep(nanoseconds: UInt64) {
        var time = timespec(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
        var rest = timespec()
        while unsafe nanosleep(&time, &rest) != 0, errno == EINTR { time = rest }
    }

    private static func nanoseconds(_ clock: clockid_t) -> UInt64 {
        let now = read(clock)
        return UInt64(now.tv_sec) * 1_000_000_000 + UInt64(now.tv_nsec)
    }

    private static func read(_ clock: clockid_t) -> timespec {
        var now = timespec()
        _ = unsafe clock_gettime(clock, &now)
        return now
    }
}
