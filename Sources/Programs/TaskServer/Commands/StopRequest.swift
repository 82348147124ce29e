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
