private import CMicroHTTPD
private import Glibc
package import HTTP
private import Platform
private import Synchronization

/// A server of HTTP/1.1 over libmicrohttpd: event loops, one thread each, that a handler must not block.
///
/// It checks the framing and the target of every request before the handler sees it, keeps absolute deadlines, and
/// answers for a handler that takes too long.
package final class HTTPServer: Sendable {
    /// The port it listens on; the real one where 0 was requested.
    package let port: UInt16

    private let core: ServerCore
    private let enforcer: DeadlineEnforcer
    private let acceptor: Acceptor
    private let daemon: Mutex<Daemon?>

    /// Listens on a bound socket and serves.
    ///
    /// Connections before this are refused by the system, so call it when the handler can answer.
    ///
    /// - Parameters:
    ///   - socket: the server closes it, also where it cannot start.
    ///   - limits: what it takes on.
    ///   - tls: with an identity it serves HTTPS, by libmicrohttpd's own TLS, 1.2 and up.
    ///   - handler: what answers requests.
    ///   - refusal: the response to what goes wrong before or without the handler.
    ///   - observe: called with each event, on the thread where it happens.
    /// - Throws: ``ServerStartError/addressInUse`` where another socket has begun to listen on the address since it was
    ///   bound.
    package init(
        listeningOn socket: ServerSocket, limits: ServerLimits = ServerLimits(), tls: TLSIdentity? = nil,
        handler: any RequestHandler,
        refusal: @escaping @Sendable (HTTPFault, RequestHead?) -> Response = HTTPFault.refuse,
        observe: @escaping @Sendable (ServerEvent) -> Void = { _ in }
    ) throws(ServerStartError) {
        ignoreBrokenPipes
        socket.markUsed()
        let core = ServerCore(limits: limits.sane, handler: handler, refusal: refusal, observe: observe)
        guard let daemon = Daemon(core, identity: tls.map(PinnedIdentity.init)) else {
            socket.close()
            throw .library
        }
        let enforcer = DeadlineEnforcer(core)
        self.core = core
        self.port = socket.port
        self.enforcer = enforcer
        acceptor = Acceptor(core, daemon, socket) { enforcer.checkNow() }
        self.daemon = Mutex(daemon)
        // Where one of these throws, `deinit` runs, which ends what was started.
        try enforcer.start()
        try socket.listen()
        try acceptor.start()
    }

    /// Tries whether a server could be bound to the address, without listening.
    ///
    /// - Parameters:
    ///   - host: `localhost` or a literal IPv4 or IPv6 address.
    ///   - port: the port.
    /// - Throws: why it could not.
    package static func checkAddress(host: String, port: UInt16) throws(ServerStartError) {
        _ = try ServerSocket(bindingTo: host, port: port)
    }

    deinit { stop(patience: 0) }

    /// The state of the server at this moment.
    package var statistics: ServerStatistics { core.statistics }

    /// Accepts no more connections, and lets answers end those that are open: the first half of a stop.
    ///
    /// For a program with several servers, so that none takes new requests while another ends.
    package func stopAccepting() {
        guard !core.isStopping.exchange(true, ordering: .sequentiallyConsistent) else { return }
        acceptor.stop()
        core.headsEnd.store(coarseNanoseconds() &+ (0.5).nanoseconds, ordering: .relaxed)
    }

    /// Stops: accepts no more connections, lets the requests under way end for that many seconds, then refuses those
    /// that still wait, and ends.
    ///
    /// A connection that has not sent a whole header block half a second after the stop has begun has no request under
    /// way. Blocks until all is over; never call it from a handler. A second call waits for the first.
    package func stop(patience seconds: Double) {
        daemon.withLock { daemon in
            guard let running = daemon.take() else { return }
            stopAccepting()
            drain(within: seconds)
            core.isEnding.store(true, ordering: .sequentiallyConsistent)
            core.expireHandlers(at: .max, .stopping)
            drain(within: 0.5)
            running.stop()
            enforcer.stop()
        }
    }

    /// Waits until no connection is open, ending those without a request under way.
    private func drain(within seconds: Double) {
        let clock = SystemTime()
        let end = clock.monotonicNanoseconds &+ seconds.nanoseconds
        while true {
            core.endUnusedConnections(at: coarseNanoseconds())
            if core.connections.withLock({ $0.isEmpty }) || clock.monotonicNanoseconds >= end { return }
            _ = usleep(2000)
        }
    }
}

/// Done once: libmicrohttpd's writes do not all suppress the signal.
private let ignoreBrokenPipes: Void = {
    _ = signal(SIGPIPE, SIG_IGN)
}()
