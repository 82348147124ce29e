import Basics
import Platform
import Synchronization

/// An operator's request to end a long command, by Ctrl-C or another signal.
///
/// The command looks for the request where it can stop in order. The program also ends if the command does not get there
/// within three seconds, because its input or its database keeps it waiting, or if the signal comes again. Nothing is lost
/// by that.
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
