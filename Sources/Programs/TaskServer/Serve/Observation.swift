import HTTP
import HTTPServer
import Platform
import TaskAPI

/// Takes the events of all parts of the server to the log and the metrics.
final class Observation: Sendable {
    let log: Log
    let requests = RequestMetrics()
    let faults = CounterByName()
    private let requestLog: RequestLog
    private let rations = LogRation()
    let keyFailures = RepeatedFailures()

    init(_ settings: LogSettings) {
        let format: LogText.Format =
            switch settings.format {
            case .auto: StandardStream.output.isTerminal ? .text : .json
            case .text: .text
            case .json: .json
            }
        log = Log(settings.level, format)
        requestLog = RequestLog(log, settings.requests)
    }

    /// Counts and logs a request that the API answered.
    func observe(_ record: RequestRecord) {
        requests.count(record)
        requestLog.write(record)
    }

    /// Answers a request that never reached the API; log and metrics have only the kind of its fault.
    func refuse(_ fault: HTTPFault, _ head: RequestHead?, _ origins: CrossOrigin, below base: String) -> Response {
        var response = HTTPFault.refuse(fault, head, below: base)
        origins.allow(refused: head, in: &response.headers)
        let code = fault.problem.code
        faults.add(code)
        ration(.info, "refused", by: code) { line in
            line.text("problem", code)
            line.number("status", response.status.rawValue)
            line.text("request", head?.identifier, limit: 64)
            line.text("peer", head?.peer, limit: 64)
        }
        return response
    }

    /// Logs a line about the store, unless there were too many: a disk can become full and not full in fast turns.
    func ration(_ level: LogLevel, _ event: StaticString, _ reason: String?) {
        ration(level, event, by: "") { $0.text("reason", reason) }
    }

    /// Logs an event of the HTTP server; anyone can cause such events, so their lines are rationed by kind.
    func observe(_ event: ServerEvent) {
        switch event {
        case .log(let kind, let line):
            ration(.warning, "http-library", by: kind) { $0.text("message", line) }
        case .cut(let deadline):
            ration(.debug, "connection-cut", by: deadline.rawValue) { $0.text("deadline", deadline.rawValue) }
        case .refused(let peer):
            ration(.warning, "connection-refused", by: "") { line in
                line.text("peer", peer, limit: 64)
                line.text("reason", "as many connections from one address as TASKS_CONNECTIONS_PER_ADDRESS allows")
            }
        case .waiting(.connections):
            ration(.warning, "connections-full", by: "") { $0.text("reason", "all of TASKS_CONNECTIONS are open") }
        case .waiting(.system(let code)):
            ration(.error, "connections-not-accepted", by: "\(code)") { line in
                line.text("reason", "\(SystemError(code: code, operation: "accept"))")
            }
        }
    }

    private func ration(
        _ level: LogLevel, _ event: StaticString, by kind: String, _ fields: (inout LogText) -> Void
    ) {
        guard log.writes(level) else { return }
        let now = SystemTime().monotonicNanoseconds
        guard let leftOut = rations.take("\(event) \(kind)", at: now) else { return }
        log.write(level, event, leftOut: leftOut, fields)
    }
}
