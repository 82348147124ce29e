import Glibc
import Testing

/// Runs something until a run took less than a bound, at most five times, and records an issue if none did.
///
/// This is for code that must not wait. A wait of the code is in every run, and the delay of a busy machine is not.
///
/// - Parameters:
///   - bound: less than what the code would take if it waited.
///   - sourceLocation: where an issue is reported.
///   - work: one run, which returns the time that counts.
package func expectDuration(
    below bound: Duration, sourceLocation: SourceLocation = #_sourceLocation, of work: () throws -> Duration
) rethrows {
    var durations: [Duration] = []
    while durations.count < 5 {
        durations.append(try work())
        if durations.last ?? bound < bound { return }
    }
    Issue.record("no run took less than \(bound): \(durations)", sourceLocation: sourceLocation)
}

/// Does the same for work that suspends.
package func expectDuration(
    below bound: Duration, sourceLocation: SourceLocation = #_sourceLocation,
    isolation: isolated (any Actor)? = #isolation, of work: () async throws -> Duration
) async rethrows {
    var durations: [Duration] = []
    while durations.count < 5 {
        durations.append(try await work())
        if durations.last ?? bound < bound { return }
    }
    Issue.record("no run took less than \(bound): \(durations)", sourceLocation: sourceLocation)
}

/// Returns the CPU time that this thread takes for something, which a busy machine does not change.
package func processorTime(of work: () throws -> Void) rethrows -> Duration {
    let start = threadTime()
    try work()
    return threadTime() - start
}

private func threadTime() -> Duration {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
}
