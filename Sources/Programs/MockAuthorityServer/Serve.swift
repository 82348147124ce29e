internal import HTTP
internal import HTTPServer
internal import MockAuthority
internal import Platform
internal import Settings
internal import Synchronization

/// Serves until a signal says otherwise.
func serve(_ settings: MockSettings, until signals: Signals) -> Never {
    let lock = stateLock(settings)
    let door = Door()
    let listen = settings.network.listen
    let limits = fittingLimits(servers: 1 + settings.tls.listen.count)
    let plain = open(listen, limits, DoorTo(door: door, scheme: "http"), tls: nil)
    let address = ListenAddress(host: listen.host, port: plain.port)
    let configuration = configuration(settings, address)
    door.open(authority(settings, configuration))
    let secure = settings.tls.listen.isEmpty ? [] : openSecure(settings, limits, door)
    let greeting = StartupMessage(configuration: configuration, address: address, secure: secure.map(\.listening))
    StandardStream.output.print(greeting.text)
    while signals.next() == .hangup {}
    for server in secure { server.server.stopAccepting() }
    plain.stopAccepting()
    for server in secure { server.server.stop(patience: 2) }
    plain.stop(patience: 2)
    _ = consume lock
    exitProcess(ExitStatus.good)
}

private func open(
    _ listen: ListenAddress, _ limits: ServerLimits, _ handler: any RequestHandler, tls: TLSIdentity?
) -> HTTPServer {
    do throws(ServerStartError) {
        return try HTTPServer(host: listen.host, port: listen.port, limits: limits, tls: tls, handler: handler)
    } catch {
        fail(["cannot listen on \(listen): \(error.message)"], ExitStatus.unavailable)
    }
}

private func openSecure(
    _ settings: MockSettings, _ limits: ServerLimits, _ door: Door
) -> [(server: HTTPServer, listening: StartupMessage.Secure)] {
    do throws(StateFolderError) {
        let folder = try stateFolder(settings.files.state ?? ".")
        let certificate = try ServerCertificate(in: folder, names: settings.tls.names, time: SystemTime())
        let identity = TLSIdentity(certificates: certificate.chain, key: certificate.key)
        return settings.tls.listen.map { listen in
            let server = open(listen, limits, DoorTo(door: door, scheme: "https"), tls: identity)
            let address = ListenAddress(host: listen.host, port: server.port)
            return (server, .init(address: address, authorityFile: File.resolved(certificate.authorityFile)))
        }
    } catch {
        fail([error.message], ExitStatus.configuration)
    }
}

private func stateFolder(_ path: String) throws(StateFolderError) -> StateFolder {
    do throws(SystemError) {
        return try StateFolder(path)
    } catch {
        throw .system(error)
    }
}

/// The right to the folder of the state, if there is one, until the end.
private func stateLock(_ settings: MockSettings) -> FileLock? {
    guard let path = settings.files.state else { return nil }
    do throws(StateFolderError) {
        return try stateFolder(path).lock()
    } catch {
        fail([error.message], ExitStatus.configuration)
    }
}

func authority(_ settings: MockSettings, _ configuration: Configuration) -> MockAuthority {
    guard let state = settings.files.state else { return MockAuthority(configuration: configuration) }
    do throws(StateFolderError) {
        return try MockAuthority(configuration: configuration, folder: try stateFolder(state))
    } catch {
        fail([error.message], ExitStatus.configuration)
    }
}

/// Limits under which a fault may make an answer a minute late.
private var patientLimits: ServerLimits {
    var limits = ServerLimits()
    limits.suspensionSeconds = 65
    limits.requestSeconds = 75
    return limits
}

/// The limits of each of this many servers, with as many connections as the process may open sockets.
private func fittingLimits(servers: Int) -> ServerLimits {
    let wished = Array(repeating: patientLimits, count: servers)
    // What is open by now, and files of the state for a moment.
    let others = ProcessLimits.openFiles + 8
    let wanted = others + ServerLimits.descriptors(of: wished)
    let allowed = ProcessLimits.raiseOpenFiles(to: wanted)
    guard let limits = ServerLimits.fitting(wished, into: allowed - others)?.last else {
        let least = others + ServerLimits.leastDescriptors(of: wished)
        fail(
            ["only \(allowed) files and sockets may be open, and at least \(least) are needed: raise ulimit -n."],
            ExitStatus.unavailable)
    }
    if allowed < wanted {
        StandardStream.error.print(
            "mock-authority: only \(allowed) files and sockets may be open, so each address takes "
                + "\(limits.connections) connections.")
    }
    return limits
}

/// What stands behind the servers: the authority, once the port is known that its issuer names.
private final class Door: Sendable {
    private let authority = Mutex<MockAuthority?>(nil)

    func open(_ authority: MockAuthority) {
        self.authority.withLock { $0 = authority }
    }

    func decide(on head: RequestHead, scheme: String) -> Decision {
        guard let authority = authority.withLock({ $0 }) else {
            return .respond(Response(503, headers: ["Retry-After": "1"]))
        }
        return authority.decide(on: head, scheme: scheme)
    }
}

/// The way to it by one scheme, which the URLs of its answers name.
private struct DoorTo: RequestHandler {
    let door: Door
    let scheme: String

    func decide(on head: RequestHead) -> Decision {
        door.decide(on: head, scheme: scheme)
    }
}

extension ServerStartError {
    /// The reason in words.
    fileprivate var message: String {
        switch self {
        case .badHost(let host): "'\(host)' is no literal address."
        case .addressInUse: "another program listens there. Choose another port with --listen."
        case .addressNotAvailable: "this machine has no such address."
        case .noPermission: "ports below 1024 need a permission."
        case .system(let context, let code): "\(SystemError(code: code, operation: context))"
        case .library: "libmicrohttpd could not start."
        }
    }
}
