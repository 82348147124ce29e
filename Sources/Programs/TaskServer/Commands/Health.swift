import Basics
import Curl
import Platform
import Settings

/// What `task-server health` asks: the path of the page that answers it.
enum HealthQuestion: String, Sendable {
    /// Whether requests are answered at all: what a supervisor restarts for.
    case alive = "/healthz"
    /// Whether there are keys and a store, too: what a load balancer or a dependent service waits for.
    case ready = "/readyz"
}

/// `task-server health`: asks the server that runs with the same settings, on the first of its public listeners.
///
/// A container's health check then needs no other program. Over TLS no certificate is checked: the question goes to
/// this machine and carries no secret, the answer only says whether the server answers, and a restart would mend no
/// certificate. `check` judges those.
func health(_ settings: ServerSettings, _ question: HealthQuestion) throws(OperatorError) -> ExitStatus {
    guard let address = settings.listen.first?.seenFromHere else { return .badSettings }
    let reply = try rethrowing(as: { OperatorError("\(address): \($0.message)") }) { () throws(FetchError) in
        try ask(question, at: address, overTLS: settings.transport.isSecure)
    }
    guard reply.status == 200 else {
        throw OperatorError("\(address)\(question.rawValue): \(reply.status) \(reply.text)")
    }
    StandardStream.output.print(reply.text)
    return .success
}

/// Returns whether a task-server answers at an address of this machine.
func isServerAlive(at address: ListenAddress, overTLS isSecure: Bool) -> Bool {
    let reply = try? ask(.alive, at: address.seenFromHere, overTLS: isSecure)
    return reply?.status == 200 && reply?.text == "alive"
}

private func ask(
    _ question: HealthQuestion, at address: ListenAddress, overTLS isSecure: Bool
) throws(FetchError) -> (status: Int, text: String) {
    try HTTPFetcher.askOwnServer("\(isSecure ? "https" : "http")://\(address)\(question.rawValue)")
}
