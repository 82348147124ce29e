import Platform
import Settings

/// What `task-server health` asks.
enum HealthQuestion: Sendable {
    /// Whether requests are answered at all: what a supervisor restarts for.
    case alive
    /// Whether there are keys and a store, too: what a balancer, or whoever starts next, waits for.
    case ready

    fileprivate var path: String {
        switch self {
        case .alive: "/healthz"
        case .ready: "/readyz"
        }
    }
}

/// `task-server health`: asks the server that runs with the same settings.
///
/// A container's health check then needs no other program.
func health(_ settings: ServerSettings, _ question: HealthQuestion) -> ExitCode {
    guard let address = settings.healthAddress?.seenFromHere else {
        StandardStream.error.print(
            "task-server: health speaks no TLS, and TASKS_ADMIN_LISTEN is off; set it. Example: 127.0.0.1:3002")
        return .badSettings
    }
    do throws(SystemError) {
        let reply = try PlainReply.get(question.path, host: address.host, port: address.port)
        guard reply.status == 200 else {
            StandardStream.error.print("task-server: \(address)\(question.path): \(reply.status) \(reply.body)")
            return .failure
        }
        StandardStream.output.print(reply.body)
        return .ok
    } catch {
        StandardStream.error.print("task-server: cannot \(error)")
        return .failure
    }
}

extension ServerSettings {
    /// Where to ask: people's own listener, since that is what must work, unless it speaks TLS.
    fileprivate var healthAddress: ListenAddress? {
        transport.isSecure ? adminListen : listen.first
    }
}
