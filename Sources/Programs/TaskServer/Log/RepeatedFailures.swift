import Synchronization

/// Which failures were logged before: one that lasts is logged again only after ten minutes, and one for another reason,
/// which may alternate or be worded by the other side, after one.
final class RepeatedFailures: Sendable {
    private struct Failure {
        var reason: String
        var said: UInt64
        var leftOut = 0
    }

    private static let minute: UInt64 = 60_000_000_000

    private let failures = Mutex<[String: Failure]>([:])

    /// Whether this failure is to be said at a monotonic time: how many like it were left out before, or nil.
    func take(_ source: String, _ reason: String, at now: UInt64) -> Int? {
        failures.withLock { failures in
            if var last = failures[source], now < last.said &+ Self.minute * (last.reason == reason ? 10 : 1) {
                last.leftOut += 1
                failures[source] = last
                return nil
            }
            let leftOut = failures[source]?.leftOut ?? 0
            failures[source] = Failure(reason: reason, said: now)
            return leftOut
        }
    }

    /// What failed is good again; the next failure is news.
    func end(of source: String) {
        failures.withLock { $0[source] = nil }
    }
}
