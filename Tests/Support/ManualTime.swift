import Platform
import Synchronization

/// A clock that stands still until a test moves it.
package final class ManualTime: TimeSource {
    private let nanoseconds = Mutex<UInt64>(1_000_000_000)
    private let start: Int64

    /// A clock at this moment: milliseconds since 1970, UTC.
    package init(wallMilliseconds: Int64 = 1_700_000_000_000) {
        start = wallMilliseconds
    }

    /// See `TimeSource`.
    package var wallMilliseconds: Int64 { start + Int64(monotonicNanoseconds / 1_000_000) - 1000 }

    /// See `TimeSource`.
    package var monotonicNanoseconds: UInt64 { nanoseconds.withLock { $0 } }

    /// Lets time pass, on both clocks.
    package func advance(seconds: Double) {
        nanoseconds.withLock { $0 += UInt64(seconds * 1e9) }
    }
}
