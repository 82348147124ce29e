import Basics
import HTTP
import HTTPServer
import OpenSSL
import Platform
import Settings

/// The sockets of the server: those for people, and the one for operators.
final class Listeners: Sendable {
    /// The addresses for people, with the real ports.
    let addresses: [String]
    let operatorAddress: String?
    private let servers: [HTTPServer]
    private let operators: HTTPServer?

    init(
        _ settings: ServerSettings, _ observation: Observation, api: any RequestHandler, operators: any RequestHandler
    ) throws(StartFailure) {
        let limits = try Self.limits(settings, observation)
        let credentials = try settings.transport.credentials()
        credentials?.warn(observation.log, at: SystemTime().wallMilliseconds / 1000)
        let identity = credentials.map { TLSIdentity(certificates: $0.certificatesPEM, key: $0.keyPEM) }
        var servers: [HTTPServer] = []
        for (address, limits) in zip(settings.listen, limits) {
            servers.append(try Self.listen(address, limits, identity, api, observation, "TASKS_LISTEN"))
        }
        self.servers = servers
        addresses = zip(settings.listen, servers).map { ListenAddress(host: $0.host, port: $1.port).description }
        guard let address = settings.adminListen, let limits = limits.last else {
            self.operators = nil
            operatorAddress = nil
            return
        }
        let server = try Self.listen(address, limits, nil, operators, observation, "TASKS_ADMIN_LISTEN")
        self.operators = server
        operatorAddress = ListenAddress(host: address.host, port: server.port).description
    }

    /// The limits of each listener, the operators' last, with as many connections as the process may open sockets.
    private static func limits(
        _ settings: ServerSettings, _ observation: Observation
    ) throws(StartFailure) -> [ServerLimits] {
        let wished =
            settings.listen.map { _ in settings.serverLimits }
            + (settings.adminListen == nil ? [] : [settings.operatorLimits])
        // What is open by now, and what will be: sessions of the database, fetches of keys, files for a moment.
        let others = ProcessLimits.openFiles + 20
        let wanted = others + ServerLimits.descriptors(of: wished)
        let allowed = ProcessLimits.raiseOpenFiles(to: wanted)
        guard var fitting = ServerLimits.fitting(wished, into: allowed - others) else {
            throw StartFailure(
                sentence: "the process may open \(allowed) files and sockets, and at least "
                    + "\(others + ServerLimits.leastDescriptors(of: wished)) are needed, for all connections \(wanted); "
                    + "raise the limit (ulimit -n, LimitNOFILE= of systemd, --ulimit nofile= of docker)")
        }
        for index in settings.listen.indices {
            fitting[index].perAddress = settings.limits.connectionsPerAddress(of: fitting[index].connections)
        }
        if allowed < wanted {
            observation.log.write(.warning, "few-open-files") { line in
                line.number("allowed", allowed)
                line.number("wanted", wanted)
                line.number("connections", fitting.first?.connections ?? 0)
                line.number("wantedConnections", settings.limits.connections)
            }
        }
        return fitting
    }

    /// The state of the servers for people, added up.
    var statistics: ServerStatistics? {
        let all = servers.map(\.statistics)
        guard let first = all.first else { return nil }
        return all.dropFirst().reduce(into: first) { sum, one in
            sum.connections += one.connections
            sum.connectionsOpened += one.connectionsOpened
            sum.requests += one.requests
            sum.connectionsRefused += one.connectionsRefused
            sum.connectionsVanished += one.connectionsVanished
            sum.suspended += one.suspended
            sum.deadlines.merge(one.deadlines, uniquingKeysWith: +)
        }
    }

    /// Lets requests under way end within this time; the operators' listener ends last.
    func stop(within patience: Duration) {
        let end = ContinuousClock.now + patience
        for server in servers { server.stopAccepting() }
        for server in servers { server.stop(patience: max(0, (end - .now).inSeconds)) }
        operators?.stop(patience: 0)
    }

    private static func listen(
        _ address: ListenAddress, _ limits: ServerLimits, _ identity: TLSIdentity?, _ handler: any RequestHandler,
        _ observation: Observation, _ setting: String
    ) throws(StartFailure) -> HTTPServer {
        try rethrowing(
            as: { StartFailure(sentence: "\(setting): cannot listen on \(address): \($0.message)") }
        ) { () throws(ServerStartError) in
            try HTTPServer(
                host: address.host, port: address.port, limits: limits, tls: identity, handler: handler,
                refusal: { observation.refuse($0, $1) }, observe: { observation.observe($0) })
        }
    }
}

extension ServerStartError {
    /// What is wrong, and what to do.
    var message: String {
        switch self {
        case .badHost: "it is not an address"
        case .addressInUse: "another program listens there; stop it, or choose another port"
        case .addressNotAvailable: "this machine has no such address"
        case .noPermission: "ports below 1024 need permission; choose another port"
        case .system(let call, let code): "\(SystemError(code: code, operation: call))"
        case .library: "libmicrohttpd could not start; the lines before this one say why"
        }
    }
}

extension ServerCredentials {
    /// Warns the operator of what clients will refuse.
    ///
    /// The server starts all the same: to some clients it may still be of use, and a restart must not become an outage.
    fileprivate func warn(_ log: Log, at now: Int64) {
        for flaw in flaws(at: now) {
            log.write(.warning, "certificate") { $0.text("problem", flaw.sentence, limit: 400) }
        }
        let days = daysLeft(at: now)
        guard (0..<Self.fewDays).contains(days) else { return }
        log.write(.warning, "certificate-expires") { line in
            line.text("at", end.asDate)
            line.number("days", Int(days))
        }
    }
}

extension Duration {
    fileprivate var inSeconds: Double {
        Double(components.seconds) + Double(components.attoseconds) / 1e18
    }
}
