import Synchronization

/// Keeps failures that last from filling the log: the same failure is logged again after ten minutes, and a failure of the same
/// source for another reason after one minute.
final class RepeatedFailures: Sendable {
    private struct Failure {
        var reason: String
        var logged: UInt64
        var leftOut = 0
    }

    private static let minute: UInt64 = 60_000_000_000

    private let failures = Mutex<[String: Failure]>([:])

    /// The number of failures that were left out before this one, at a monotonic time; nil if this one is left out, too.
    func take(_ source: String, _ reason: String, at now: UInt64) -> Int? {
        failures.withLock { failures in
            if var last = failures[source], now < last.logged &+ Self.minute * (last.reason == reason ? 10 : 1) {
                last.leftOut += 1
                failures[source] = last
                return nil
            }
            let leftOut = failures[source]?.leftOut ?? 0
            failures[source] = Failure(reason: reason, logged: now)
            return leftOut
        }
    }

    /// The source works again; its next failure is logged at once.
    func end(of source: String) {
        failures.withLock { $0[source] = nil }
    }
}
