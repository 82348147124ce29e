import Basics
import HTTP
import HTTPServer
import OpenSSL
import Platform
import Settings
import Synchronization

/// The servers that listen: those for people, and the one for operators.
final class Listeners: Sendable {
    /// The addresses for people, with the real ports.
    let addresses: [String]
    let operatorAddress: String?
    /// When the server's certificate or one of its issuers' ends, in seconds since 1970; nil without TLS.
    var certificateEnd: Int64? { credentials.withLock { $0?.end } }
    private let credentials: Mutex<ServerCredentials?>
    private let servers: [HTTPServer]
    private let operators: HTTPServer?

    /// Begins to listen; from here on, requests are answered.
    init(
        on bound: BoundAddresses, _ settings: ServerSettings, _ observation: Observation, api: any RequestHandler,
        below base: String, operators: any RequestHandler
    ) throws(OperatorError) {
        let limits = try Self.limits(settings, bound, observation)
        let credentials = try settings.transport.credentials()
        credentials?.warn(observation.log, at: SystemTime().wallMilliseconds / 1000)
        self.credentials = Mutex(credentials)
        let identity = credentials?.identity
        addresses = bound.servers.map(\.address.description)
        operatorAddress = bound.operators?.address.description
        servers = try zip(bound.servers, limits).map { (address, limits) throws(OperatorError) in
            try address.listen(limits, identity, api, observation, settings.tokens.origins, below: base)
        }
        guard let address = bound.operators, let limits = limits.last else {
            self.operators = nil
            return
        }
        self.operators = try address.listen(limits, nil, operators, observation)
    }

    /// The limits of each listener, the operators' last, with as many connections as the process may open sockets.
    private static func limits(
        _ settings: ServerSettings, _ bound: BoundAddresses, _ observation: Observation
    ) throws(OperatorError) -> [ServerLimits] {
        let wished =
            bound.servers.map { _ in settings.serverLimits }
            + (bound.operators == nil ? [] : [settings.operatorLimits])
        // These are the files that are open now and those that will be: the sessions of the database, fetches of keys
        // and files that are open for a moment. The bound sockets are counted with their servers.
        let others = ProcessLimits.openFiles - bound.count + 20
        let wanted = others + ServerLimits.descriptors(of: wished)
        let allowed = ProcessLimits.raiseOpenFiles(to: wanted)
        guard var fitting = ServerLimits.fitting(wished, into: allowed - others) else {
            throw OperatorError(
                "the process may open \(allowed) files and sockets, and at least "
                    + "\(others + ServerLimits.leastDescriptors(of: wished)) are needed, for all connections \(wanted)",
                advice: "raise the limit (ulimit -n, LimitNOFILE= of systemd, --ulimit nofile= of docker)")
        }
        for index in bound.servers.indices {
            fitting[index].perAddress = settings.limits.connectionsPerAddress(of: fitting[index].connectionsOfRequests)
        }
        if allowed < wanted {
            observation.log.write(.warning, "few-open-files") { line in
                line.number("allowed", allowed)
                line.number("wanted", wanted)
                line.number("connections", fitting.first?.connectionsOfRequests ?? 0)
                line.number("wantedConnections", settings.limits.connections)
            }
        }
        return fitting
    }

    /// Reads the certificate and its key again, for new connections; files that cannot be used change nothing.
    func reloadCredentials(_ transport: TransportSettings, _ log: Log) {
        do throws(OperatorError) {
            guard let new = try transport.credentials(), new != credentials.withLock({ $0 }) else { return }
            guard let identity = RenewedIdentity(new.identity) else {
                throw OperatorError("GnuTLS cannot use the files of TASKS_TLS_CERT and TASKS_TLS_KEY")
            }
            for server in servers { server.present(identity) }
            credentials.withLock { $0 = new }
            log.write(.info, "certificate-reloaded") { $0.text("until", new.end.asDate) }
            new.warn(log, at: SystemTime().wallMilliseconds / 1000)
        } catch {
            log.write(.error, "certificate-not-reloaded") { line in
                line.text("problem", error.message, limit: 400)
                line.text("consequence", "new connections still get the earlier certificate")
            }
        }
    }

    /// The sums of the statistics of the servers for people.
    var statistics: ServerStatistics? { ServerStatistics.sum(servers.map(\.statistics)) }

    /// Stops the servers, and lets requests in progress end within this time; the listener for operators stops last.
    func stop(within patience: Duration) {
        let end = ContinuousClock.now + patience
        for server in servers { server.stopAccepting() }
        for server in servers { server.stop(patience: end - .now) }
        operators?.stop(patience: .zero)
    }
}

extension ServerStatistics {
    /// Returns the sums of each number; nil without servers.
    static func sum(_ all: [ServerStatistics]) -> ServerStatistics? {
        guard let first = all.first else { return nil }
        return all.dropFirst().reduce(into: first) { sum, one in
            sum.connections += one.connections
            sum.connectionsOpened += one.connectionsOpened
            sum.connectionsRefused += one.connectionsRefused
            sum.connectionsDisconnected += one.connectionsDisconnected
            sum.suspended += one.suspended
            sum.deadlines.merge(one.deadlines, uniquingKeysWith: +)
        }
    }
}

extension ServerCredentials {
    fileprivate var identity: TLSIdentity { TLSIdentity(certificates: certificatesPEM, key: keyPEM) }

    /// Warns the operator of what clients will refuse.
    ///
    /// The server starts all the same: to some clients it may still be of use, and a restart must not become an outage.
    fileprivate func warn(_ log: Log, at now: Int64) {
        for flaw in flaws(at: now) {
            log.write(.warning, "certificate") { $0.text("problem", flaw.message, limit: 400) }
        }
        let days = daysLeft(at: now)
        guard (0..<Self.fewDays).contains(days) else { return }
        log.write(.warning, "certificate-expires") { line in
            line.text("at", end.asDate)
            line.number("days", Int(days))
        }
    }
}
