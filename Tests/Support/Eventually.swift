import Glibc
import Testing

/// How long a test waits for something that must happen, unless it says otherwise; far more than it takes on a busy
/// machine, so that only what never happens fails.
package let patience: Duration = .seconds(180)

/// Waits until a condition holds, and records an issue if it does not hold in time.
///
/// Every wait of a test goes through this function, its blocking twin, or a call with a deadline of its own.
///
/// The condition is asked every few milliseconds, and a hundred times at least, because tests that block may hold all
/// threads for minutes. `what` is for the report; true is returned if the condition held.
@discardableResult
package func eventually(
    _ what: Comment? = nil, within limit: Duration = patience, sourceLocation: SourceLocation = #_sourceLocation,
    isolation: isolated (any Actor)? = #isolation, _ condition: () async throws -> Bool
) async rethrows -> Bool {
    let end = ContinuousClock.now + limit
    var looks = 1
    while !(try await condition()) {
        guard ContinuousClock.now < end || looks < 100 else {
            report(what, limit, sourceLocation)
            return false
        }
        looks += 1
        try? await Task.sleep(for: .milliseconds(5))
    }
    return true
}

/// Blocks the thread until a condition holds, and records an issue if it does not hold in time.
@discardableResult
package func eventuallyBlocking(
    _ what: Comment? = nil, within limit: Duration = patience, sourceLocation: SourceLocation = #_sourceLocation,
    _ condition: () throws -> Bool
) rethrows -> Bool {
    let end = ContinuousClock.now + limit
    while !(try condition()) {
        guard ContinuousClock.now < end else {
            report(what, limit, sourceLocation)
            return false
        }
        usleep(2000)
    }
    return true
}

private func report(_ what: Comment?, _ limit: Duration, _ sourceLocation: SourceLocation) {
    Issue.record("\(what?.rawValue ?? "the condition") did not hold within \(limit)", sourceLocation: sourceLocation)
}
