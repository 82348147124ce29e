package import Basics
private import CMicroHTTPD
private import Glibc
package import HTTP
private import Platform
private import Synchronization

/// A server of HTTP/1.1 over libmicrohttpd, with event loops of one thread each, which a handler must not block.
///
/// The server checks every request before the handler sees it, keeps absolute deadlines, and answers for a handler that
/// is late.
package final class HTTPServer: Sendable {
    /// The port on which the server listens; the real one if 0 was requested.
    package let port: UInt16

    private let core: ServerCore
    private let enforcer: DeadlineEnforcer
    private let acceptor: Acceptor
    private let daemon: Mutex<Daemon?>

    /// Listens on a bound socket and serves; until then the system refuses connections.
    ///
    /// The server closes the socket, also if it cannot start, as when another socket began to listen on the address
    /// (``Basics/OperatorError/addressInUse``). With an identity it speaks TLS 1.2 and up, by libmicrohttpd. `refusal`
    /// makes the response to faults before or without the handler, and `observe` is called with each event, on the
    /// thread where it happens.
    package init(
        listeningOn socket: ServerSocket, limits: ServerLimits = ServerLimits(), tls: TLSIdentity? = nil,
        handler: any RequestHandler,
        refusal: @escaping @Sendable (HTTPFault, RequestHead?) -> Response = HTTPFault.refuse,
        observe: @escaping @Sendable (ServerEvent) -> Void = { _ in }
    ) throws(OperatorError) {
        ignoreBrokenPipes
        sparePages
        let core = ServerCore(limits: limits.bounded, handler: handler, refusal: refusal, observe: observe)
        guard let daemon = Daemon(core, identity: tls) else {
            socket.close()
            throw OperatorError("libmicrohttpd could not start; the lines before this one say why")
        }
        let enforcer = DeadlineEnforcer(core)
        self.core = core
        self.port = socket.port
        self.enforcer = enforcer
        acceptor = Acceptor(core, daemon, socket) { enforcer.checkNow() }
        self.daemon = Mutex(daemon)
        // If one of these calls throws, `deinit` runs and ends everything that was started.
        try socket.listen()
        try rethrowing(as: OperatorError.init) { () throws(SystemError) in
            try enforcer.start()
            try acceptor.start()
        }
    }

    deinit { stop(patience: .zero) }

    package var statistics: ServerStatistics { core.statistics }

    /// Shows another identity on the TLS connections that are accepted from now on; open connections keep theirs.
    package func present(_ identity: RenewedIdentity) {
        core.renewedIdentity.withLock { $0 = identity }
    }

    /// The first half of a stop: accepts no connections, makes each answer its connection's last, and ends streams.
    ///
    /// A program with several servers stops all of them so, and none takes new requests while another ends.
    package func stopAccepting() {
        guard !core.closesAfterAnswers.exchange(true, ordering: .sequentiallyConsistent) else { return }
        core.endStreams()
        acceptor.stop()
        core.headsEnd.store(coarseNanoseconds() &+ 500_000_000, ordering: .relaxed)
    }

    /// Stops: accepts no more connections, lets the requests under way end within this time, and refuses those that
    /// still wait.
    ///
    /// A request counts as under way if its header block arrives within half a second. The call blocks until all is
    /// over, so no handler may make it. A second call waits for the first.
    package func stop(patience: Duration) {
        daemon.withLock { daemon in
            guard let running = daemon.take() else { return }
            stopAccepting()
            drain(within: patience)
            core.refusesToWait.store(true, ordering: .sequentiallyConsistent)
            core.expireHandlers(at: .max, .stopping)
            drain(within: .milliseconds(500))
            running.stop()
            enforcer.stop()
        }
    }

    /// Ends the connections without a request under way, until no connection is open or the time is up.
    private func drain(within limit: Duration) {
        let clock = SystemTime()
        let end = clock.monotonicNanoseconds &+ UInt64(limit.nanoseconds)
        while true {
            core.endUnusedConnections(at: coarseNanoseconds())
            if core.slots.isEmpty || clock.monotonicNanoseconds >= end { return }
            _ = usleep(2000)
        }
    }
}

/// Ignores SIGPIPE once for the process, because not all writes of libmicrohttpd suppress the signal.
private let ignoreBrokenPipes: Void = {
    _ = signal(SIGPIPE, SIG_IGN)
}()

/// The state of a server at one moment.
package struct ServerStatistics: Sendable, Equatable {
    package var connections = 0
    /// The connections that were ever opened.
    package var connectionsOpened = 0
    /// The connections that were closed at once because their address had as many as are allowed.
    package var connectionsRefused = 0
    /// The connections that were ended because their peers had disconnected.
    package var connectionsDisconnected = 0
    /// The requests that wait for the handler.
    package var suspended = 0
    /// The responses under way whose content is made while it is sent.
    package var streams = 0
    /// The number of times that each deadline has passed.
    package var deadlines: [Deadline: Int] = [:]
}

/// An event of a server that is neither a request nor an answer.
package enum ServerEvent: Sendable, Equatable {
    /// A message of libmicrohttpd, without text of clients; the kind leaves out numbers and reasons.
    case log(kind: String, line: String)
    /// A connection was closed at once, because its address has as many as are allowed.
    case refused(peer: String)
    /// New connections must wait, in the backlog of the system.
    case waiting(Shortage)
    /// A connection was ended because it had used up its time.
    case cut(Deadline)
}

/// The shortage that prevents another connection.
package enum Shortage: Sendable, Equatable {
    /// All connections that the limits allow are open.
    case connections
    /// The system refuses, with this error number, because no descriptor or no memory is left.
    case system(Int32)
}

/// The times that a connection can use up (V-145), with their names in logs and metrics.
package enum Deadline: String, Sendable, Equatable, CaseIterable {
    /// There was no request on a kept connection.
    case idle
    /// The header block did not end.
    case header
    /// The body did not end, or came too slowly.
    case body
    /// The handler had no response; the client got a 503.
    case suspension
    /// The client did not read the response, or a piece of a stream, in time.
    case answer
    /// A client that was refused kept its connection open, or continued to send its body.
    case refusal
}
