import Synchronization

/// Which failures were logged before: one that lasts is logged again only after ten minutes, and one for another reason,
/// which may alternate or be the text of the other side, after one.
final class RepeatedFailures: Sendable {
    private struct Failure {
        var reason: String
        var logged: UInt64
        var leftOut = 0
    }

    private static let minute: UInt64 = 60_000_000_000

    private let failures = Mutex<[String: Failure]>([:])

    /// Whether this failure is to be logged at a monotonic time: how many like it were left out before, or nil.
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
