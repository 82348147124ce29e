import PostgreSQL
import Tasks

/// What is reported of failures: each reason once, until all is well again; a log that grows with every request helps no one.
struct FailureReports {
    /// Why there is no session, for callers.
    private(set) var lastFailure = "not connected yet"
    /// Something was written since the last failure.
    private(set) var isHealthy = false
    private var hasFailed = false
    /// Of the failed write that was reported last.
    private var sqlState: String?
    /// The reasons for lost sessions that were reported since all sessions were there, or since none was.
    private var reasons: Set<String> = []

    /// After a statement failed for a reason that concerns more than its caller.
    mutating func failed(_ error: PostgreSQLError) -> StoreEvent? {
        guard isHealthy || !hasFailed || error.sqlState != sqlState else { return nil }
        (isHealthy, hasFailed, sqlState) = (false, true, error.sqlState)
        let reason = error.description
        return error.kind == .full ? .diskFull(reason: reason) : .commitFailed(reason: reason)
    }

    /// After something was written.
    mutating func written() -> StoreEvent? {
        guard !isHealthy else { return nil }
        isHealthy = true
        return hasFailed ? .recovered : nil
    }

    /// A server that stops ends all sessions, each with the same reason.
    mutating func lost(_ reason: String) -> StoreEvent? {
        lastFailure = reason
        guard reasons.count < 16, reasons.insert(reason).inserted else { return nil }
        return .connectionLost(reason: reason)
    }

    /// A session is there, the first of them, or the last that was missing.
    mutating func connected(isFirst: Bool, isLast: Bool) -> StoreEvent? {
        lastFailure = "no connection"
        if isFirst || isLast { reasons = [] }
        return isFirst ? .connected : nil
    }
}
