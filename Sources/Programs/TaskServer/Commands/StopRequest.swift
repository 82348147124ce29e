import Basics
import Platform
import Synchronization

/// An operator's request to end a long command, by Ctrl-C or another signal.
///
/// The command looks for the request where it can stop in order. The program also ends if the command does not get
/// there within three seconds, because its input or its database keeps it waiting, or if the signal comes again.
/// Nothing is lost by that.
final class StopRequest: Sendable {
    private let number = Atomic<Int32>(0)

    var isMade: Bool { number.load(ordering: .relaxed) != 0 }

    /// The exit status after the request: 128 and the number of the signal, as the shell has it.
    var exitStatus: ExitStatus { ExitStatus(rawValue: 128 + number.load(ordering: .relaxed)) ?? .interrupted }

    /// Begins to wait for signals; the advice says how to continue after an end that was not in order.
    static func watching(_ signals: Signals, advice: String) throws(OperatorError) -> StopRequest {
        let request = StopRequest()
        let signals = signals.sparingNohup
        try rethrowing(as: OperatorError.init) { () throws(SystemError) in
            _ = try NamedThread.start("signals") { request.watch(signals, advice) }
        }
        return request
    }

    private func watch(_ signals: Signals, _ advice: String) {
        number.store(signals.next().number, ordering: .relaxed)
        _ = signals.next(within: .seconds(3))
        let line = StandardStream.error.isTerminal ? "\n" : ""
        StandardStream.error.print("\(line)task-server: stopped; \(advice)")
        exitProcess(exitStatus)
    }
}

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
