private import Glibc
import Synchronization

/// The phase of a connection and its deadline, written with the lock of its lifecycle held, and read by the thread that
/// enforces deadlines.
struct PublishedPhase: ~Copyable, Sendable {
    typealias Phase = RequestLifecycle.Phase

    private let phase: Atomic<UInt8>
    /// The deadline in nanoseconds of the coarse monotonic clock.
    private let deadline: Atomic<UInt64>
    private let bodyStart = Atomic<UInt64>(0)
    private let bodyBytes = Atomic<Int>(0)

    /// Creates the phase of a new connection, which owes its first header block.
    init(until deadline: UInt64) {
        phase = Atomic(Phase.header.rawValue)
        self.deadline = Atomic(deadline)
    }

    func enter(_ phase: Phase, until deadline: UInt64) {
        self.deadline.store(deadline, ordering: .relaxed)
        self.phase.store(phase.rawValue, ordering: .releasing)
    }

    func enterBody(at now: UInt64, until deadline: UInt64) {
        bodyStart.store(now, ordering: .relaxed)
        bodyBytes.store(0, ordering: .relaxed)
        enter(.body, until: deadline)
    }

    /// Counts bytes of the body that have arrived.
    func received(_ count: Int) {
        bodyBytes.store(bodyBytes.load(ordering: .relaxed) &+ count, ordering: .relaxed)
    }

    var current: Phase? { Phase(rawValue: phase.load(ordering: .acquiring)) }

    /// The deadline, or the time at which a silent stream is to send something; of two idle connections, the one with
    /// the earlier deadline has been idle for longer.
    var end: UInt64 { deadline.load(ordering: .relaxed) }

    /// A number that differs after each change, except for changes within the 4 ms of the coarse clock.
    var stamp: UInt64 { deadline.load(ordering: .relaxed) << 4 | UInt64(phase.load(ordering: .relaxed)) }

    /// The limit that the connection has exceeded, if any.
    func exceeded(at now: UInt64, limits: ServerLimits, _ times: TimeLimits) -> Deadline? {
        // The phase is read first, so that no phase is judged by the deadline of an earlier one.
        let phase = current
        let isLate = now >= deadline.load(ordering: .relaxed)
        return switch phase {
        case .idle: isLate ? .idle : nil
        case .header: isLate ? .header : nil
        case .body: isLate || isSlow(at: now, limits: limits, times) ? .body : nil
        case .response, .longResponse: isLate ? .answer : nil
        case .discarding: isLate ? .refusal : nil
        case .handling, .stream, .silentStream, nil: nil
        }
    }

    private func isSlow(at now: UInt64, limits: ServerLimits, _ times: TimeLimits) -> Bool {
        let start = bodyStart.load(ordering: .relaxed)
        guard now > start, now &- start >= times.bodyRateGrace else { return false }
        return Double(bodyBytes.load(ordering: .relaxed)) < limits.bodyRate * Double(now &- start) / 1e9
    }
}

/// Returns nanoseconds for deadlines: a few milliseconds late, but read in a few nanoseconds.
///
/// This clock stands still while the machine sleeps, so no client counts as slow for that time.
func coarseNanoseconds() -> UInt64 {
    var now = timespec()
    _ = unsafe clock_gettime(CLOCK_MONOTONIC_COARSE, &now)
    return UInt64(now.tv_sec) &* 1_000_000_000 &+ UInt64(now.tv_nsec)
}
