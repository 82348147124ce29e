import Basics

/// Metrics in the text format that Prometheus reads (version 0.0.4).
struct PrometheusText {
    enum Kind: String { case counter, gauge, histogram }

    private(set) var text = ""

    /// Begins a family: its samples follow.
    mutating func family(_ name: String, _ kind: Kind, _ help: String) {
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n"
    }

    /// One sample; label values are words of the program or names of sources, which need no escape.
    mutating func sample(
        _ name: String, _ labels: [(name: String, value: String)], _ value: some CustomStringConvertible
    ) {
        text += name
        if !labels.isEmpty {
            text += "{" + labels.map { "\($0.name)=\"\($0.value)\"" }.joined(separator: ",") + "}"
        }
        text += " \(value)\n"
    }

    mutating func single(_ name: String, _ kind: Kind, _ help: String, _ value: some CustomStringConvertible) {
        family(name, kind, help)
        sample(name, [], value)
    }

    mutating func single(_ name: String, _ help: String, _ durations: DurationHistogram) {
        family(name, .histogram, help)
        histogram(name, [], durations)
    }

    mutating func histogram(_ name: String, _ labels: [(name: String, value: String)], _ durations: DurationHistogram) {
        // The total is the last of the same counts, since other threads go on counting.
        let counts = durations.cumulativeCounts
        for (bound, count) in counts { sample("\(name)_bucket", labels + [("le", bound)], count) }
        sample("\(name)_sum", labels, Double(durations.totalNanoseconds) / 1e9)
        sample("\(name)_count", labels, counts.last?.count ?? 0)
    }
}
