import Platform

/// The last line of a terminal, which counts what a command has done so far; nothing where there is no terminal.
struct ProgressLine: ~Copyable {
    private let unit: String
    private let total: Int?
    private let isShown: Bool
    private let clock = SystemTime()
    private var drawn: UInt64 = 0

    /// A line that is shown if standard error is a terminal, and the lines of the command do not run over one as well.
    init(_ unit: String, of total: Int? = nil, besides stream: StandardStream? = nil) {
        (self.unit, self.total) = (unit, total)
        isShown = StandardStream.error.isTerminal && stream?.isTerminal != true
    }

    /// Shows the count, at most ten times a second.
    mutating func show(_ count: Int) {
        let now = clock.monotonicNanoseconds
        guard isShown, now - drawn >= 100_000_000 else { return }
        drawn = now
        // Counts only grow, so each line covers the one before it.
        _ = try? StandardStream.error.write(Array("\r\(count)\(total.map { " of \($0)" } ?? "") \(unit)".utf8))
    }

    /// Leaves the line to others.
    func leave() {
        if drawn > 0 { StandardStream.error.print("") }
    }
}
