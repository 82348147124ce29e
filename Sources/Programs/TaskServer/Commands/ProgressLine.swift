import Platform

/// The last line of a terminal, which shows the progress of a command; nothing where there is no terminal.
struct ProgressLine: ~Copyable {
    private let isShown: Bool
    private let clock = SystemTime()
    private let started: UInt64
    private var drawn: UInt64 = 0
    private var lastLength = 0
    private var isOpen = false
    private(set) var bar: ProgressBar

    /// A line that is shown if standard error is a terminal, and the lines of the command do not run over one as well.
    init(_ unit: String, besides stream: StandardStream?) {
        isShown = StandardStream.error.isTerminal && stream?.isTerminal != true
        bar = ProgressBar(unit)
        started = clock.monotonicNanoseconds
    }

    /// Whether the line is shown, so that a total is worth counting.
    var isWatched: Bool { isShown }

    /// Begins to count up to this total, or with this part of the whole.
    mutating func begin(of total: Int?, part: Double? = nil) {
        (bar.total, bar.knownPart) = (total, part)
        draw()
    }

    /// Shows the progress, at most ten times a second.
    mutating func show(_ count: Int, part: Double? = nil) {
        (bar.count, bar.knownPart) = (count, part)
        guard isShown, clock.monotonicNanoseconds - drawn >= 100_000_000 else { return }
        draw()
    }

    /// Shows the end and leaves the line; the last count becomes the total if all was done.
    mutating func finish(_ count: Int, isWhole: Bool) {
        bar.count = count
        if isWhole {
            bar.total = bar.total.map { _ in count }
            bar.knownPart = bar.knownPart.map { _ in 1 }
        }
        draw()
        leave()
    }

    /// Leaves the line to others.
    mutating func leave() {
        guard isOpen else { return }
        isOpen = false
        _ = try? StandardStream.error.write([UInt8(ascii: "\n")])
    }

    private mutating func draw() {
        guard isShown else { return }
        drawn = clock.monotonicNanoseconds
        bar.seconds = Double(drawn - started) / 1e9
        // One column less, because some terminals go to the next line when the last one is filled.
        let columns = columns
        let line = bar.line(columns: columns - 1)
        // Spaces overwrite the rest of a longer line before, because every terminal knows spaces.
        let length = line.utf8.count
        let rest = String(repeating: " ", count: max(0, min(lastLength, columns - 1) - length))
        lastLength = length
        isOpen = true
        _ = try? StandardStream.error.write(Array("\r\(line)\(rest)".utf8))
    }

    private var columns: Int {
        StandardStream.error.columns ?? ProcessFacts.environment["COLUMNS"].flatMap { Int($0) }.map { max(2, $0) } ?? 80
    }
}
