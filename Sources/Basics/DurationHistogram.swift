import Synchronization

/// Counts durations by upper bound, as Prometheus wants them.
///
/// Adding a duration takes no lock.
package final class DurationHistogram: Sendable {
    /// Upper bounds in nanoseconds.
    private static let bounds: [16 of UInt64] = [
        50_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000, 5_000_000, 10_000_000, 25_000_000, 50_000_000,
        100_000_000, 250_000_000, 500_000_000, 1_000_000_000, 2_500_000_000, 10_000_000_000,
    ]
    /// The same in seconds.
    private static let boundTexts = [
        "0.00005", "0.0001", "0.00025", "0.0005", "0.001", "0.0025", "0.005", "0.01", "0.025", "0.05", "0.1", "0.25",
        "0.5", "1", "2.5", "10", "+Inf",
    ]

    /// One count for each bound, and one for longer durations.
    private let counts = InlineArray<17, Atomic<Int>> { _ in Atomic(0) }
    private let nanoseconds = Atomic<Int>(0)

    package init() {}

    /// Counts a duration in nanoseconds.
    package func add(_ duration: UInt64) {
        var index = 0
        while index < Self.bounds.count, duration > Self.bounds[index] { index += 1 }
        counts[index].add(1, ordering: .relaxed)
        nanoseconds.add(Int(clamping: duration), ordering: .relaxed)
    }

    package var count: Int { cumulativeCounts.last?.count ?? 0 }

    /// The time of all of them together.
    package var totalNanoseconds: Int { nanoseconds.load(ordering: .relaxed) }

    /// The number of durations up to each upper bound.
    ///
    /// The bound is the text that Prometheus reads, in seconds; the last one is `+Inf`.
    package var cumulativeCounts: [(bound: String, count: Int)] {
        var total = 0
        return Self.boundTexts.enumerated().map { index, bound in
            total += counts[index].load(ordering: .relaxed)
            return (bound, total)
        }
    }
}

extension Duration {
    /// The whole nanoseconds, as the monotonic clock counts them: 0 for a negative duration, and at most thirty years.
    package var nanoseconds: Int64 {
        let (seconds, attoseconds) = min(max(self, .zero), .seconds(1_000_000_000)).components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}
