import HTTP
import Platform
import Synchronization
import TaskAPI
import Tokens

/// The requests with a verified token, and without a problem, that are logged.
enum LoggedRequests: Sendable, Equatable {
    case all
    case errors
    /// One in this many.
    case sample(Int)
}

/// Logs requests that have a verified token: all, or one in N.
///
/// Refusals (V-132) and requests without a token are rationed by kind (``LogRation``). A probe is logged when its
/// answer has changed.
final class RequestLog: Sendable {
    private let log: Log
    private let logged: LoggedRequests
    private let time: any TimeSource
    private let ration = LogRation()
    /// The number of requests of which one in N is logged.
    private let sampled = Atomic<Int>(0)
    /// The last answers of the health pages, for which balancers ask every second: only a change is worth a line.
    private let answers = Mutex<[String: Status]>([:])
    /// Whether a probe found the server ready since its start.
    private let wasReady = Atomic(false)

    init(_ log: Log, _ logged: LoggedRequests, time: any TimeSource = SystemTime()) {
        self.log = log
        self.logged = logged
        self.time = time
    }

    func write(_ record: RequestRecord) {
        if record.problem == nil, record.owner != nil {
            if let leftOut = sample() { line(record, leftOut: leftOut) }
            return
        }
        if record.problem == nil, isRepeated(record) { return }
        guard let leftOut = ration.take(kind(of: record), at: time.monotonicNanoseconds) else { return }
        line(record, leftOut: leftOut)
    }

    /// The reason of a refusal; of a page or a preflight, which needs no token, the method, the route and the status.
    private func kind(of record: RequestRecord) -> String {
        guard let problem = record.problem else {
            return "\(record.method.name) \(record.route) \(record.status.rawValue)"
        }
        return record.refusal.map { "\(problem) \($0.code)" } ?? problem
    }

    /// The number of requests that were left out before the next one; nil if that one is left out, too.
    private func sample() -> Int? {
        switch logged {
        case .all: return 0
        case .errors: return nil
        case .sample(let size):
            let number = sampled.wrappingAdd(1, ordering: .relaxed).oldValue
            guard number % size == 0 else { return nil }
            return number == 0 ? 0 : size - 1
        }
    }

    /// Whether this is the answer that the same health page gave before.
    private func isRepeated(_ record: RequestRecord) -> Bool {
        guard record.isProbe else { return false }
        if record.route == "/readyz", record.status == 200 { wasReady.store(true, ordering: .relaxed) }
        return answers.withLock { $0.updateValue(record.status, forKey: record.route) } == record.status
    }

    private func line(_ record: RequestRecord, leftOut: Int) {
        let token = record.refusedToken?()
        log.write(level(of: record), "request", leftOut: leftOut) { line in
            line.text("method", record.method.name, limit: 16)
            line.text("route", record.route)
            line.number("status", record.status.rawValue)
            line.number("us", Int(record.duration / 1000))
            line.number("bytes", record.bytes)
            line.text("request", record.identifier, limit: 64)
            line.text("peer", record.peer, limit: 64)
            if let owner = record.owner { line.hex("owner", owner) }
            line.text("problem", record.problem, limit: 64)
            line.text("refusal", record.refusal?.code, limit: 64)
            // The code of the mistake is logged only where it says more than the refusal.
            if let mistake = token?.mistake?.code, mistake != record.refusal?.code { line.text("mistake", mistake) }
            line.text("kid", token?.keyIdentifier, limit: 64)
            line.text("token", token?.fingerprint, limit: 16)
            line.text("clientRequestId", record.clientRequestIdentifier, limit: 64)
            line.text("trace", record.trace, limit: 64)
        }
    }

    private func level(of record: RequestRecord) -> LogLevel {
        switch record.status.rawValue {
        // A probe asked whether the server is ready, and got its answer. Each start begins with such probes.
        case 500... where record.isProbe: wasReady.load(ordering: .relaxed) ? .warning : .info
        // One person's readers can cause this alone.
        case 500... where record.problem == "list.no_room": .warning
        case 500...: .error
        default: .info
        }
    }
}

extension RequestRecord {
    fileprivate var isProbe: Bool { route == "/healthz" || route == "/readyz" }
}
