import HTTP
import Synchronization

/// What all connections of a server share.
final class ServerCore: Sendable {
    let limits: ServerLimits
    let handler: any RequestHandler
    let refusal: @Sendable (HTTPFault, RequestHead?) -> Response
    let observe: @Sendable (ServerEvent) -> Void

    /// Every open connection; the lock is taken when one opens or closes, and by the enforcing thread, never per
    /// request.
    ///
    /// libmicrohttpd may hold locks of its own when it calls us to add or remove one. So none of its functions that
    /// lock are called with this lock held, nor is the lock of a connection's lifecycle taken.
    let connections = Mutex<[ObjectIdentifier: ClientConnection]>([:])
    /// Whether answers end their connections.
    let isStopping = Atomic<Bool>(false)
    /// Until when a server that stops waits for header blocks, by the coarse clock.
    let headsEnd = Atomic<UInt64>(.max)
    /// Whether requests that have to wait are refused.
    let isEnding = Atomic<Bool>(false)
    let suspended = Atomic<Int>(0)
    let opened = Atomic<Int>(0)
    /// How many are open, in all and by network.
    let slots: ConnectionSlots
    /// Requests under way of the clients of trusted proxies.
    let requestsByClient: RequestsByClient
    /// Connections that were not accepted because their address had enough.
    let refused = Atomic<Int>(0)
    /// Connections that were ended because their peers had disconnected.
    let disconnected = Atomic<Int>(0)
    let deadlines = Mutex<[Deadline: Int]>([:])
    /// Where request identifiers start: unlike those of other processes.
    let firstIdentifier = UInt64.random(in: .min ... .max)

    init(
        limits: ServerLimits, handler: any RequestHandler,
        refusal: @escaping @Sendable (HTTPFault, RequestHead?) -> Response,
        observe: @escaping @Sendable (ServerEvent) -> Void
    ) {
        self.limits = limits
        slots = ConnectionSlots(limits)
        requestsByClient = RequestsByClient(limit: limits.perAddress)
        self.handler = handler
        self.refusal = refusal
        self.observe = observe
    }

    /// A connection is about to be closed.
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
        statistics.deadlines = deadlines.withLock { $0 }
        return statistics
    }
}
