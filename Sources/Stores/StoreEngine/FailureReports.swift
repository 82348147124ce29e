import Tasks

/// The failures that a store has reported: each reason once until all is well again, so that no log fills the disk.
struct FailureReports {
    private static let most = 16

    /// The reason why there is no session, for callers.
    private(set) var lastLoss = "not connected yet"
    /// Whether something was written since the start, and since the last failure.
    private(set) var isHealthy = false
    /// The reasons for failed batches that were reported since something was written.
    private var failures: Set<String> = []
    /// The reasons for lost sessions that were reported since all sessions were there, or since none was.
    private var losses: Set<String> = []

    mutating func failed(_ failure: ReportedFailure) -> StoreEvent? {
        isHealthy = false
        guard failures.count < Self.most, failures.insert(failure.code).inserted else { return nil }
        return failure.isFull ? .diskFull(reason: failure.reason) : .commitFailed(reason: failure.reason)
    }

    mutating func written() -> StoreEvent? {
        isHealthy = true
        guard !failures.isEmpty else { return nil }
        failures = []
        return .recovered
    }

    /// Notes a lost session; a server that stops ends all sessions with the same reason, which is reported once.
    mutating func lost(_ reason: String) -> StoreEvent? {
        lastLoss = reason
        guard losses.count < Self.most, losses.insert(reason).inserted else { return nil }
        return .connectionLost(reason: reason)
    }

    /// Notes that a session was opened: the first one, the last one that was missing, or another.
    mutating func opened(isFirst: Bool, isLast: Bool) -> StoreEvent? {
        lastLoss = "no connection"
        if isFirst || isLast { losses = [] }
        return isFirst ? .connected : nil
    }
}

/// A failure that concerns more than its caller.
package struct ReportedFailure: Sendable {
    /// The database's code, by which a failure is reported once.
    let code: String
    let reason: String
    let isFull: Bool

    package init(code: String, reason: String, isFull: Bool) {
        self.code = code
        self.reason = reason
        self.isFull = isFull
    }
}
