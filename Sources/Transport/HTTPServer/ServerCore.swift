import HTTP
import Synchronization

/// The state that all connections of a server share.
final class ServerCore: Sendable {
    let limits: ServerLimits
    let times: TimeLimits
    let handler: any RequestHandler
    let refusal: @Sendable (HTTPFault, RequestHead?) -> Response
    let observe: @Sendable (ServerEvent) -> Void

    /// Every open connection.
    ///
    /// libmicrohttpd may hold its own locks when it calls us to add or remove a connection. So this lock must not be
    /// held during a call of the library that locks, nor while the lock of a connection's lifecycle is taken.
    let connections = Mutex<[ObjectIdentifier: ClientConnection]>([:])
    /// Whether each answer ends its connection: the first phase of a stop.
    let closesAfterAnswers = Atomic<Bool>(false)
    /// The identity that replaced the first one; each connection keeps the one that it shows.
    let renewedIdentity = Mutex<RenewedIdentity?>(nil)
    /// The time until which a stopping server waits for header blocks, by the coarse clock.
    let headsEnd = Atomic<UInt64>(.max)
    /// Whether requests that have to wait are refused: the second phase of a stop.
    let refusesToWait = Atomic<Bool>(false)
    /// The requests that wait for the handler.
    let suspended = Atomic<Int>(0)
    let opened = Atomic<Int>(0)
    let slots: ConnectionSlots
    /// Connections that were not accepted because their address had enough.
    let refused = Atomic<Int>(0)
    /// Connections that were ended because their peers had disconnected.
    let disconnected = Atomic<Int>(0)
    let deadlines = Mutex<[Deadline: Int]>([:])
    /// The start of the request identifiers, which differs from those of other processes.
    let firstIdentifier = UInt64.random(in: .min ... .max)

    init(
        limits: ServerLimits, handler: any RequestHandler,
        refusal: @escaping @Sendable (HTTPFault, RequestHead?) -> Response,
        observe: @escaping @Sendable (ServerEvent) -> Void
    ) {
        self.limits = limits
        times = TimeLimits(limits)
        slots = ConnectionSlots(limits)
        self.handler = handler
        self.refusal = refusal
        self.observe = observe
    }

    /// Forgets a connection that is about to be closed.
    func remove(_ connection: ClientConnection) {
        connections.withLock { _ = $0.removeValue(forKey: ObjectIdentifier(connection)) }
        connection.forgetClient()
        slots.release(connection.address)
    }

    func count(_ deadline: Deadline) {
        deadlines.withLock { $0[deadline, default: 0] += 1 }
        observe(.cut(deadline))
    }

    var statistics: ServerStatistics {
        var statistics = ServerStatistics()
        statistics.connections = connections.withLock { $0.count }
        statistics.connectionsOpened = opened.load(ordering: .relaxed)
        statistics.connectionsRefused = refused.load(ordering: .relaxed)
        statistics.connectionsDisconnected = disconnected.load(ordering: .relaxed)
        statistics.suspended = suspended.load(ordering: .relaxed)
        statistics.streams = slots.streams
        statistics.deadlines = deadlines.withLock { $0 }
        return statistics
    }
}
