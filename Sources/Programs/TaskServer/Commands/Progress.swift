import Basics
import Platform

/// How much of a whole is done, as the text of a line.
struct Progress: Equatable {
    var unit: String
    /// The count at the end, if it is known.
    var total: Int?

    /// The count, how much of the whole that is, and from the first second on how long the rest takes at this pace.
    ///
    /// Where no total is known, `part` is the part of the whole that is done, from 0 to 1.
    func text(_ count: Int, part: Double? = nil, after seconds: Double) -> String {
        let part = total.map { Double(count) / Double(max($0, count, 1)) } ?? part.map { min($0, 1) }
        var text = total.map { "\(count) of \(max($0, count)) \(unit)" } ?? "\(count) \(unit)"
        guard let part else { return text }
        if total == nil { text += ", \(Int(part * 100)) %" }
        guard part > 0, part < 1, seconds >= 1 else { return text }
        let rest = Int(min(seconds / part * (1 - part), 1e9).rounded(.up))
        return "\(text), \(rest < 90 ? "\(rest) s" : "\((rest + 30) / 60) min") left"
    }
}

/// The last line of a terminal, which shows the progress of a command; nothing where there is no terminal.
struct ProgressLine: ~Copyable {
    private var progress: Progress
    let isShown: Bool
    private let clock = SystemTime()
    private let started: UInt64
    private var drawn: UInt64 = 0
    private var length = 0

    /// A line that is shown if standard error is a terminal, and the lines of the command do not run over one as well.
    init(_ unit: String, of total: Int? = nil, besides stream: StandardStream? = nil) {
        progress = Progress(unit: unit, total: total)
        isShown = StandardStream.error.isTerminal && stream?.isTerminal != true
        started = clock.monotonicNanoseconds
    }

    mutating func expect(_ total: Int) { progress.total = total }

    /// Shows the progress, at most ten times a second.
    mutating func show(_ count: Int, part: Double? = nil) {
        let now = clock.monotonicNanoseconds
        guard isShown, now - drawn >= 100_000_000 else { return }
        drawn = now
        let text = progress.text(count, part: part, after: Double(now - started) / 1e9)
        // Spaces cover the rest of a longer line before, because every terminal knows spaces.
        let rest = String(repeating: " ", count: max(0, length - text.utf8.count))
        length = text.utf8.count
        _ = try? StandardStream.error.write(Array("\r\(text)\(rest)".utf8))
    }

    /// Leaves the line to others.
    func leave() {
        if drawn > 0 { StandardStream.error.print("") }
    }
}
