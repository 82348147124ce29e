import HTTP
import Platform
import TaskAPI
import Tokens

/// One line for every request; of refusals of one kind only so many (V-132).
struct RequestLog: Sendable {
    let log: Log
    private let ration = LogRation()
    private let time: any TimeSource

    init(_ log: Log, time: any TimeSource = SystemTime()) {
        self.log = log
        self.time = time
    }

    func write(_ record: RequestRecord) {
        guard let problem = record.problem else { return line(record, leftOut: 0) }
        let reason = record.refusal.map { "\(problem) \($0.code)" } ?? problem
        guard let leftOut = ration.take(reason, at: time.monotonicNanoseconds) else { return }
        line(record, leftOut: leftOut)
    }

    private func line(_ record: RequestRecord, leftOut: Int) {
        log.write(Self.level(of: record.status), "request") { line in
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
            line.text("kid", record.keyIdentifier, limit: 64)
            line.text("token", record.tokenFingerprint, limit: 16)
            line.text("clientRequestId", record.clientRequestIdentifier, limit: 64)
            line.text("trace", record.trace, limit: 64)
            if leftOut > 0 { line.number("leftOut", leftOut) }
        }
    }

    private static func level(of status: Status) -> LogLevel {
        switch status.rawValue {
        case 500...: .error
        default: .info
        }
    }
}
