/// How long things took: counts by upper bound, as Prometheus wants them.
final class Histogram: Sendable {
    /// Upper bounds in nanoseconds, with their text in seconds.
    private static let bounds: [(nanoseconds: UInt64, text: String)] = [
        (50_000, "0.00005"), (100_000, "0.0001"), (250_000, "0.00025"), (500_000, "0.0005"), (1_000_000, "0.001"),
        (2_500_000, "0.0025"), (5_000_000, "0.005"), (10_000_000, "0.01"), (25_000_000, "0.025"),
        (50_000_000, "0.05"), (100_000_000, "0.1"), (250_000_000, "0.25"), (500_000_000, "0.5"),
        (1_000_000_000, "1"), (2_500_000_000, "2.5"), (10_000_000_000, "10"),
    ]

    /// One for each bound and one for what is above all.
    private let counts = (0...bounds.count).map { _ in Counter() }
    private let nanoseconds = Counter()

    func add(_ duration: UInt64) {
        let index = Self.bounds.firstIndex { duration <= $0.nanoseconds } ?? Self.bounds.count
        counts[index].add()
        nanoseconds.add(Int(clamping: duration))
    }

    /// The samples of this histogram under these labels.
    func render(_ name: String, _ labels: [(name: String, value: String)], into text: inout PrometheusText) {
        var total = 0
        for (counter, bound) in zip(counts, Self.bounds.map(\.text) + ["+Inf"]) {
            total += counter.value
            text.sample("\(name)_bucket", labels + [("le", bound)], total)
        }
        text.sample("\(name)_sum", labels, Double(nanoseconds.value) / 1e9)
        text.sample("\(name)_count", labels, total)
    }
}
