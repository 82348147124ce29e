import Basics
import Platform

/// The start of a server that inherits the sockets of an earlier one, which may still be ending.
///
/// Until its end the earlier server holds the database and the address for operators, so the new one waits for both.
/// Connections wait in the sockets meanwhile. Without inherited sockets nothing is waited for.
struct Handover {
    /// How long a server may take to close its database after the last request.
    private static let closing: Duration = .seconds(10)
    private static let pause: Duration = .milliseconds(20)

    /// The inherited sockets.
    let sockets: [Int32]
    private let patience: Duration
    private let end: ContinuousClock.Instant
    private let signals: Signals
    private let log: Log

    /// Begins the time for which a server of these settings may take to end.
    init(of manager: ServiceManager, _ settings: LimitSettings, _ signals: Signals, _ log: Log) {
        sockets = manager.sockets
        patience = settings.shutdownDelay + settings.shutdownPatience + Self.closing
        end = .now + patience
        self.signals = signals
        self.log = log
    }

    /// Repeats an attempt while another server holds what it needs, and time is left.
    func waiting<Value, Failure: Error>(
        for need: String, while isHeld: (Failure) -> Bool, _ attempt: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        var isReported = false
        while true {
            do throws(Failure) {
                return try attempt()
            } catch {
                guard !sockets.isEmpty, isHeld(error), ContinuousClock.now < end else { throw error }
            }
            if !isReported {
                log.write(.info, "waiting-for-earlier-server") { line in
                    line.text("need", need)
                    line.number("atMostSeconds", Int(patience.components.seconds))
                }
            }
            isReported = true
            switch signals.next(within: Self.pause) {
            case .terminate, .interrupt: endAtOnce()
            case .hangup, nil: break
            }
        }
    }

    /// Ends the program, which has opened nothing yet.
    private func endAtOnce() -> Never {
        log.write(.info, "stopped")
        log.close()
        exitProcess(.success)
    }
}
