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
/// Refusals (V-132) and requests without a token are rationed by kind (``LogRation``). A probe is logged when its answer
/// has changed.
struct RequestLog: Sendable {
    let log: Log
    private let ration = LogRation()
    private let probes = ProbeMemory()
    private let sampler: RequestSampler
    private let time: any TimeSource

    init(_ log: Log, _ logged: LoggedRequests, time: any TimeSource = SystemTime()) {
        self.log = log
        sampler = RequestSampler(logged)
        self.time = time
    }

    func write(_ record: RequestRecord) {
        guard let problem = record.problem else {
            guard record.owner == nil else {
                if let leftOut = sampler.take() { line(record, leftOut: leftOut) }
                return
            }
            guard !probes.isRepeated(record) else { return }
            // Pages and preflights: no token is needed for these.
            let kind = "\(record.method.name) \(record.route) \(record.status.rawValue)"
            guard let leftOut = ration.take(kind, at: time.monotonicNanoseconds) else { return }
            return line(record, leftOut: leftOut)
        }
        let reason = record.refusal.map { "\(problem) \($0.code)" } ?? problem
        guard let leftOut = ration.take(reason, at: time.monotonicNanoseconds) else { return }
        line(record, leftOut: leftOut)
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
        case 500... where record.isProbe: probes.wasReady ? .warning : .info
        // One person's readers can cause this alone.
        case 500... where record.problem == "list.no_room": .warning
        case 500...: .error
        default: .info
        }
    }
}

/// Chooses the requests that are logged; all loops share it.
private final class RequestSampler: Sendable {
    private let logged: LoggedRequests
    private let count = Atomic<Int>(0)

    init(_ logged: LoggedRequests) {
        self.logged = logged
    }

    /// The number of requests that were left out before the next one; nil if that one is left out, too.
    func take() -> Int? {
        switch logged {
        case .all: return 0
        case .errors: return nil
        case .sample(let size):
            let number = count.wrappingAdd(1, ordering: .relaxed).oldValue
            guard number % size == 0 else { return nil }
            return number == 0 ? 0 : size - 1
        }
    }
}

/// The last answers of the health pages.
///
/// Balancers ask every second, and only a change is worth a line.
private final class ProbeMemory: Sendable {
    private let last = Mutex<[String: Status]>([:])
    private let ready = Atomic(false)

    /// Whether a probe found the server ready since its start.
    var wasReady: Bool { ready.load(ordering: .relaxed) }

    /// Whether this is the answer that the same page gave before.
    func isRepeated(_ record: RequestRecord) -> Bool {
        guard record.isProbe else { return false }
        if record.route == "/readyz", record.status == 200 { ready.store(true, ordering: .relaxed) }
        return last.withLock { $0.updateValue(record.status, forKey: record.route) } == record.status
    }
}

extension RequestRecord {
    fileprivate var isProbe: Bool { route == "/healthz" || route == "/readyz" }
}
