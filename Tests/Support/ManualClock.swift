import Platform
import Synchronization

/// The clocks of tests: both stop until a test moves them.
package final class ManualClock: TimeSource {
    private struct State {
        var wallMilliseconds: Int64
        var monotonicNanoseconds: UInt64 = 5_000_000_000
    }

    private let state: Mutex<State>

    /// Clocks at this moment: milliseconds since 1970, UTC.
    package init(wallMilliseconds: Int64 = 1_700_000_000_000) {
        state = Mutex(State(wallMilliseconds: wallMilliseconds))
    }

    package var wallMilliseconds: Int64 { state.withLock { $0.wallMilliseconds } }
    package var monotonicNanoseconds: UInt64 { state.withLock { $0.monotonicNanoseconds } }

    /// Lets time pass, on both clocks.
    package func advance(seconds: Double) {
        state.withLock {
            $0.wallMilliseconds += Int64((seconds * 1000).rounded())
            $0.monotonicNanoseconds += UInt64(seconds * 1e9)
        }
    }

    /// Changes the wall clock alone, as an administrator does.
    package func setWall(by seconds: Int64) {
        state.withLock { $0.wallMilliseconds += seconds * 1000 }
    }
}
