import Basics
import Glibc
import OpenSSL
import Platform
import Settings

/// What `task-server health` asks.
enum HealthQuestion: Sendable {
    /// Whether requests are answered at all: what a supervisor restarts for.
    case alive
    /// Whether there are keys and a store, too: what a load balancer or a dependent service waits for.
    case ready

    fileprivate var path: String {
        switch self {
        case .alive: "/healthz"
        case .ready: "/readyz"
        }
    }
}

/// `task-server health`: asks the server that runs with the same settings, on the first of its public listeners.
///
/// A container's health check then needs no other program. Over TLS no certificate is checked: the question goes to this
/// machine and carries no secret, the answer only says whether the server answers, and a restart would mend no
/// certificate. `check` judges those.
func health(_ settings: ServerSettings, _ question: HealthQuestion) throws(OperatorError) -> ExitStatus {
    guard let address = settings.listen.first?.seenFromHere else { return .badSettings }
    let reply = try rethrowing(as: { OperatorError("cannot \($0)") }) { () throws(SystemError) in
        try settings.probe.ask(question, at: address)
    }
    guard reply.status == 200 else { throw OperatorError("\(address)\(question.path): \(reply.status) \(reply.body)") }
    StandardStream.output.print(reply.body)
    return .success
}

/// Asks one of our own servers on this machine, over TLS if the server speaks TLS.
struct Probe {
    let layer: PlainReply.Layer?

    fileprivate func ask(_ question: HealthQuestion, at address: ListenAddress) throws(SystemError) -> PlainReply {
        try PlainReply.get(question.path, host: address.host, port: address.port, layer: layer)
    }

    /// Whether a task-server answers there.
    func isAlive(at address: ListenAddress) -> Bool {
        do throws(SystemError) {
            return try ask(.alive, at: address.seenFromHere) == PlainReply(status: 200, body: "alive")
        } catch {
            return false
        }
    }
}

extension ServerSettings {
    /// The probe of the public listeners.
    var probe: Probe {
        var layer: PlainReply.Layer?
        if transport.isSecure { layer = exchangeOverTLS }
        return Probe(layer: layer)
    }
}

private func exchangeOverTLS(_ bytes: [UInt8], _ socket: Int32) throws(SystemError) -> [UInt8] {
    do throws(UnverifiedExchange.Failure) {
        return try UnverifiedExchange.send(bytes, over: socket)
    } catch {
        switch error {
        case .noHandshake: throw SystemError(code: EPROTO, operation: "speak TLS with the server")
        case .cut: throw SystemError(code: ECONNRESET, operation: "read the answer to its end")
        }
    }
}
