import Basics
import HTTP
import HTTPServer
import Platform
import Settings
import Synchronization
import TaskAPI

/// The addresses of the settings, bound: the ports are reserved, and the system refuses connections to them.
///
/// Sockets of the service manager are in the place of the addresses for people. They listen already.
struct BoundAddresses {
    let servers: [BoundAddress]
    let operators: BoundAddress?

    init(_ settings: ServerSettings, _ handover: Handover) throws(OperatorError) {
        servers =
            handover.sockets.isEmpty
            ? try settings.listen.map { (address) throws(OperatorError) in
                try BoundAddress(address, "TASKS_LISTEN", handover, settings)
            } : try handover.sockets.map(BoundAddress.init(inheriting:))
        operators = try settings.adminListen.map { (address) throws(OperatorError) in
            try BoundAddress(address, "TASKS_ADMIN_LISTEN", handover, settings)
        }
    }

    var count: Int { servers.count + (operators == nil ? 0 : 1) }
}

/// An address on which a server can begin to listen.
struct BoundAddress {
    private let wanted: ListenAddress
    private let setting: String
    private let socket: ServerSocket

    init(
        _ address: ListenAddress, _ setting: String, _ handover: Handover, _ settings: ServerSettings
    ) throws(OperatorError) {
        wanted = address
        self.setting = setting
        socket = try rethrowing(as: { OperatorError(address, setting, $0) }) { () throws(OperatorError) in
            try handover.waiting(for: setting, while: { $0 == .addressInUse }) { () throws(OperatorError) in
                try ServerSocket(bindingTo: address, besides: settings.listen)
            }
        }
    }

    init(inheriting descriptor: Int32) throws(OperatorError) {
        setting = "LISTEN_FDS"
        socket = try rethrowing(as: { OperatorError("LISTEN_FDS: \($0.message)") }) {
            () throws(OperatorError) in try ServerSocket(inheriting: descriptor)
        }
        wanted = ListenAddress(host: socket.host, port: socket.port)
    }

    /// The address with the real port.
    var address: ListenAddress { ListenAddress(host: wanted.host, port: socket.port) }

    func listen(
        _ limits: ServerLimits, _ identity: TLSIdentity?, _ handler: any RequestHandler, _ observation: Observation,
        _ origins: CrossOrigin = .only([]), below base: String = ""
    ) throws(OperatorError) -> HTTPServer {
        try rethrowing(as: { OperatorError(wanted, setting, $0) }) { () throws(OperatorError) in
            try HTTPServer(
                listeningOn: socket, limits: limits, tls: identity, handler: handler,
                refusal: { observation.refuse($0, $1, origins, below: base) },
                observe: { observation.observe($0) })
        }
    }
}

extension ServerSocket {
    /// Binds an address, which leaves the connections of IPv4 to those that take them.
    convenience init(bindingTo address: ListenAddress, besides others: [ListenAddress]) throws(OperatorError) {
        try self.init(bindingTo: address.host, port: address.port, onlyIPv6: address.leavesIPv4(to: others))
    }
}

extension OperatorError {
    /// The error of an address that cannot be bound or listened on.
    init(_ address: ListenAddress, _ setting: String, _ error: OperatorError) {
        self.init("\(setting): cannot listen on \(address): \(error.message)")
    }
}

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
            endIfAsked(within: Self.pause)
        }
    }

    /// Makes an attempt on a thread of its own, and hears meanwhile a signal to stop: a silent host takes seconds.
    func hearing<Value: Sendable>(
        _ attempt: @escaping @Sendable () throws(OperatorError) -> Value
    ) throws(OperatorError) -> Value {
        let outcome = Outcome<Value>()
        _ = try rethrowing(as: OperatorError.init) { () throws(SystemError) in
            try NamedThread.start("start") {
                let result = Result(catching: attempt)
                outcome.result.withLock { $0 = result }
                outcome.isKnown.wake()
            }
        }
        while true {
            outcome.isKnown.wait(untilMonotonicNanoseconds: SystemTime().monotonicNanoseconds + 100_000_000)
            if let result = outcome.result.withLock({ $0 }) { return try result.get() }
            endIfAsked(within: .zero)
        }
    }

    private final class Outcome<Value: Sendable>: Sendable {
        let result = Mutex<Result<Value, OperatorError>?>(nil)
        let isKnown = Wakeup()
    }

    /// Ends the program, which has nothing to lose yet, if a signal asks for that within this time.
    private func endIfAsked(within time: Duration) {
        switch signals.next(within: time) {
        case .terminate, .interrupt: endAtOnce()
        case .hangup, nil: break
        }
    }

    private func endAtOnce() -> Never {
        log.write(.info, "stopped")
        log.close()
        exitProcess(.success)
    }
}
