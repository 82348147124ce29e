internal import HTTP
internal import MicroHTTPD
internal import MockAuthority
internal import Platform
internal import Settings
internal import Synchronization

/// Serves until a signal says otherwise.
func serve(_ settings: MockSettings, until signals: Signals) -> Never {
    let listen = settings.entrance.listen
    let door = Door()
    let server: HTTPServer
    do throws(ServerStartError) {
        server = try HTTPServer(host: listen.host, port: listen.port, limits: patientLimits, handler: door)
    } catch {
        fail(["cannot listen on \(listen): \(error.explanation)"], ExitCode.unavailable)
    }
    let address = ListenAddress(host: listen.host, port: server.port)
    let configuration = configuration(settings, address)
    door.open(MockAuthority(configuration: configuration))
    StandardStream.output.print(Greeting(configuration: configuration, address: address).text)
    while signals.next() == .hangup {}
    server.stop(patience: 2)
    exitProcess(ExitCode.good)
}

/// Limits under which a fault may make an answer a minute late.
private var patientLimits: ServerLimits {
    var limits = ServerLimits()
    limits.suspensionSeconds = 65
    limits.requestSeconds = 75
    return limits
}

/// What stands behind the server: the authority, once the port is known that its issuer names.
private final class Door: RequestHandler {
    private let authority = Mutex<MockAuthority?>(nil)

    func open(_ authority: MockAuthority) {
        self.authority.withLock { $0 = authority }
    }

    func decide(on head: RequestHead) async -> Decision {
        guard let authority = authority.withLock({ $0 }) else {
            return .respond(Response(503, headers: ["Retry-After": "1"]))
        }
        return await authority.decide(on: head)
    }
}

private func configuration(_ settings: MockSettings, _ address: ListenAddress) -> Configuration {
    var configuration = Configuration()
    // Nobody can call 0.0.0.0: who listens everywhere is reached as localhost, or says --issuer.
    let host = ["0.0.0.0", "::"].contains(address.host) ? "localhost:\(address.port)" : "\(address)"
    configuration.issuerBase = "http://\(host)"
    if let path = settings.files.configuration { configuration = read(path, configuration.issuerBase) }
    if let issuer = settings.entrance.issuer { configuration.issuerBase = issuer.withoutSlash }
    if let mode = settings.entrance.issuerMode {
        for index in configuration.policies.indices { configuration.policies[index].issuer = mode }
    }
    configuration.behaviour = settings.behaviour
    configuration.behaviour.switches.remoteControl = settings.entrance.allowRemote
    return configuration
}

private func read(_ path: String, _ issuerBase: String) -> Configuration {
    let bytes: [UInt8]
    do throws(SystemError) {
        bytes = try File.read(path)
    } catch {
        fail(["\(error)"], ExitCode.configuration)
    }
    do throws(ConfigurationMistake) {
        return try Configuration(parsing: bytes, issuerBase: issuerBase)
    } catch {
        fail(["\(path): \(error.sentence)"], ExitCode.configuration)
    }
}

extension String {
    fileprivate var withoutSlash: String { hasSuffix("/") ? String(dropLast()) : self }
}

extension ServerStartError {
    /// The reason in words.
    fileprivate var explanation: String {
        switch self {
        case .badHost(let host): "'\(host)' is no literal address."
        case .addressInUse: "another program listens there. Choose another port with --listen."
        case .addressNotAvailable: "this machine has no such address."
        case .noPermission: "ports below 1024 need a permission."
        case .system(let call, let code): "\(SystemError(code: code, operation: call))"
        case .library: "libmicrohttpd could not start."
        }
    }
}
