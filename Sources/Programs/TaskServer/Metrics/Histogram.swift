import Synchronization

/// How long things took: counts by upper bound, as Prometheus wants them.
final class Histogram: Sendable {
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

    /// One for each bound and one for what is above all.
    private let counts = InlineArray<17, Atomic<Int>> { _ in Atomic(0) }
    private let nanoseconds = Atomic<Int>(0)

    func add(_ duration: UInt64) {
        var index = 0
        while index < Self.bounds.count, duration > Self.bounds[index] { index += 1 }
        counts[index].add(1, ordering: .relaxed)
        nanoseconds.add(Int(clamping: duration), ordering: .relaxed)
    }

    /// The samples of this histogram under these labels.
    func render(_ name: String, _ labels: [(name: String, value: String)], into text: inout PrometheusText) {
        var total = 0
        for (index, bound) in Self.boundTexts.enumerated() {
            total += counts[index].load(ordering: .relaxed)
            text.sample("\(name)_bucket", labels + [("le", bound)], total)
        }
        text.sample("\(name)_sum", labels, Double(nanoseconds.load(ordering: .relaxed)) / 1e9)
        text.sample("\(name)_count", labels, total)
    }
}
