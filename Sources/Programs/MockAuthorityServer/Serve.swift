import Basics
import HTTPServer
import JSON
import MockAuthority
import Platform
import Settings

/// Serves until a signal ends the program.
///
/// The addresses are bound first, so that a taken port is reported before keys are generated, and the issuer has its
/// port. No server listens before the authority and its certificate exist: until then the system refuses connections,
/// and the first request that is accepted gets its proper answer.
func serve(_ settings: MockSettings, until signals: Signals) throws(OperatorError) {
    // Held until the end.
    let lock = try settings.state.map { (path) throws(OperatorError) in try StateFolder(path).lock() }
    let limits = try fittingLimits(servers: 1 + settings.tls.listen.count)
    let socket = try bind(settings.network.listen)
    let secureSockets = try settings.tls.listen.map(bind)
    let address = ListenAddress(host: settings.network.listen.host, port: socket.port)
    let secureAddresses = zip(settings.tls.listen, secureSockets).map { ListenAddress(host: $0.host, port: $1.port) }
    let configuration = try configuration(settings, address, secure: secureAddresses.first)
    // The signing key is generated on another thread, while this one makes the certificate.
    let authority = try authority(settings, configuration)
    let certificate = secureSockets.isEmpty ? nil : try serverCertificate(settings, configuration)
    let identity = certificate.map { TLSIdentity(certificates: $0.chain, key: $0.key) }
    let secure = try zip(settings.tls.listen, secureSockets).map { (listen, socket) throws(OperatorError) in
        try server(listen, socket, limits, AuthorityHandler(authority, scheme: "https"), tls: identity)
    }
    // This server starts last, since clients wait for it.
    let handler = AuthorityHandler(authority, scheme: "http")
    let plain = try server(settings.network.listen, socket, limits, handler, tls: nil)
    let message = StartupMessage(
        configuration: configuration, base: "http://\(address.called)", secure: secureAddresses.map(\.secureBase),
        authorityFile: certificate.map { File.resolved($0.authorityFile) })
    if settings.printReady {
        authority.whenReady(at: [message.base] + message.secure, message.authorityFile) {
            StandardStream.output.print($0)
        }
    }
    StandardStream.output.print(message.text)
    if settings.endWithInput {
        try rethrowing(as: { OperatorError("\($0)") }) { () throws(SystemError) in try signals.sendAtEndOfInput() }
    }
    while signals.next() == .hangup {}
    let servers = secure + [plain]
    for server in servers { server.stopAccepting() }
    for server in servers { server.stop(patience: .seconds(2)) }
    _ = consume lock
}

extension MockAuthority {
    /// Passes on the line of `--print-ready`, and returns after that.
    fileprivate func whenReady(
        at addresses: [String], _ authorityFile: String?, _ use: @escaping @Sendable (String) -> Void
    ) {
        let used = Wakeup()
        Task.detached {
            let line = await self.readyLine(at: addresses, authorityFile: authorityFile)
            use(String(decoding: line.serialized(), as: UTF8.self))
            used.wake()
        }
        used.wait()
    }
}

private func bind(_ listen: ListenAddress) throws(OperatorError) -> ServerSocket {
    try rethrowing(as: { OperatorError(listen, $0) }) { () throws(OperatorError) in
        try ServerSocket(bindingTo: listen.host, port: listen.port)
    }
}

private func server(
    _ listen: ListenAddress, _ socket: ServerSocket, _ limits: ServerLimits, _ handler: AuthorityHandler,
    tls: TLSIdentity?
) throws(OperatorError) -> HTTPServer {
    try rethrowing(as: { OperatorError(listen, $0) }) { () throws(OperatorError) in
        try HTTPServer(listeningOn: socket, limits: limits, tls: tls, handler: handler)
    }
}

private func serverCertificate(
    _ settings: MockSettings, _ configuration: Configuration
) throws(OperatorError) -> ServerCertificate {
    let names = settings.tls.names
    let addresses = settings.tls.listen.map(\.host).filter { ListenAddress(host: $0, port: 0).isNamedByAddress }
    let more = (configuration.hostNames + addresses).filter { !names.contains($0) }
    return try ServerCertificate(in: StateFolder(settings.state ?? "."), names: names + more, time: SystemTime())
}

func authority(_ settings: MockSettings, _ configuration: Configuration) throws(OperatorError) -> MockAuthority {
    guard let state = settings.state else { return MockAuthority(configuration: configuration) }
    return try MockAuthority(configuration: configuration, folder: StateFolder(state))
}

/// The limits, which allow a fault to delay an answer by a minute.
private var patientLimits: ServerLimits {
    var limits = ServerLimits()
    limits.suspensionTime = .seconds(65)
    limits.requestTime = .seconds(75)
    return limits
}

/// Returns the limits of each server, with as many connections as the process may open sockets.
private func fittingLimits(servers: Int) throws(OperatorError) -> ServerLimits {
    let wished = Array(repeating: patientLimits, count: servers)
    // These are the files that are open already, and files of the state for a moment.
    let others = ProcessLimits.openFiles + 8
    let wanted = others + ServerLimits.descriptors(of: wished)
    let allowed = ProcessLimits.raiseOpenFiles(to: wanted)
    guard let limits = ServerLimits.fitting(wished, into: allowed - others)?.last else {
        let least = others + ServerLimits.leastDescriptors(of: wished)
        throw OperatorError(
            "only \(allowed) files and sockets may be open, and at least \(least) are needed: raise ulimit -n.",
            .unavailable)
    }
    if allowed < wanted {
        StandardStream.error.print(
            "mock-authority: only \(allowed) files and sockets may be open, so each address takes "
                + "\(limits.connections.counted("connection")).")
    }
    return limits
}

extension OperatorError {
    fileprivate init(_ listen: ListenAddress, _ error: OperatorError) {
        self.init("cannot listen on \(listen): \(error.message)", .unavailable)
    }
}
