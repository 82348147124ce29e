import HTTP
import HTTPServer
import IssuerKeys
import Platform
import Synchronization
import TaskAPI
import Tasks
import Tokens

/// Takes the events of all parts of the server to the log and the metrics.
final class Observation: Sendable {
    let log: Log
    let requests = RequestMetrics()
    let faults = CounterByName()
    let failedPrunings = Atomic(0)
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
        var response = HTTPFault.refuse(atAPI: fault, head, below: base)
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

extension Observation {
    /// Logs an event of the authority's keys (V-133).
    func observe(_ event: KeyEvent) {
        switch event {
        case .loaded(let source, let keys, let added, let removed):
            keyFailures.end(of: source)
            log.write(.info, "keys-loaded") { line in
                line.text("source", source)
                line.number("keys", keys)
                if !added.isEmpty { line.text("added", added.joined(separator: " ")) }
                if !removed.isEmpty { line.text("removed", removed.joined(separator: " ")) }
            }
        case .loadFailed(let source, let reason, let seconds):
            guard let leftOut = keyFailures.take(source, reason, at: SystemTime().monotonicNanoseconds) else { return }
            log.write(.warning, "keys-not-loaded", leftOut: leftOut) { line in
                line.text("source", source)
                line.text("reason", reason, limit: 512)
                line.number("nextAttemptSeconds", seconds)
            }
        case .keySkipped(let source, let key):
            log.write(.warning, "key-skipped") { line in
                line.text("source", source)
                line.text("kid", key.keyIdentifier, limit: 64)
                line.text("reason", key.reason)
            }
        case .privateKeyPublished(let source, let identifier):
            log.write(.error, "private-key-published") { line in
                line.text("source", source)
                line.text("kid", identifier, limit: 64)
                line.text("consequence", "everyone who reads it can sign tokens; the provider must replace it")
            }
        case .stateChanged(let source, let from, let to):
            log.write(to.serves ? .info : .error, "keys-state") { line in
                line.text("source", source)
                line.text("from", from.rawValue)
                line.text("to", to.rawValue)
            }
        case .unknownKeysLimited(let source):
            ration(.warning, "unknown-keys-limited", source.map { "source \($0)" })
        case .fileRead(let source, let documents):
            log.write(.info, "key-file-read") { line in
                line.text("source", source)
                line.number("sources", documents)
            }
        case .fileIgnored(let reason): log.write(.warning, "key-file-ignored") { $0.text("reason", reason) }
        case .fileNotWritten(let reason): log.write(.error, "key-file-not-written") { $0.text("reason", reason) }
        }
    }
}

extension Observation {
    func observe(_ event: StoreEvent) {
        switch event {
        case .created(let version): log.write(.info, "database-created") { $0.number("schema", version) }
        case .migrated(let from, let to):
            log.write(.info, "database-migrated") { line in
                line.number("schemaBefore", from)
                line.number("schema", to)
            }
        case .commitFailed(let reason): ration(.error, "commit-failed", reason)
        case .diskFull(let reason): ration(.error, "disk-full", reason)
        case .recovered: ration(.info, "commits-recovered", nil)
        case .checkpointFailed(let reason): ration(.error, "checkpoint-failed", reason)
        case .pruningFailed(let reason):
            failedPrunings.add(1, ordering: .relaxed)
            ration(.warning, "pruning-failed", reason)
        case .displaced(let reason): ration(.error, "database-file-lost", reason)
        case .replaced: ration(.info, "database-file-back", nil)
        case .damaged(let reason): ration(.error, "database-damaged", reason)
        case .connectionLost(let reason): ration(.error, "database-lost", reason)
        case .connected: ration(.info, "database-connected", nil)
        case .sessionsShared: log.write(.info, "database-sessions-shared")
        case .closed(let checkpointed):
            log.write(.info, "database-closed") { line in
                if let checkpointed { line.text("log", checkpointed ? "emptied" : "kept") }
            }
        }
    }
}
