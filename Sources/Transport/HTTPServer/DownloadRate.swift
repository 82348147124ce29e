/// The speed at which a client acknowledges a long response, since the enforcing thread first saw the response.
struct DownloadRate {
    /// The number of the request on its connection.
    let request: Int
    /// The start of the measurement on the coarse monotonic clock, in nanoseconds.
    let since: UInt64
    /// The bytes of the connection that the client had at the start; negative if the system cannot tell.
    let acknowledged: Int64

    /// Returns whether the client has taken less since the start than the limits ask for.
    func isSlow(at now: UInt64, acknowledged total: Int64, _ limits: ServerLimits) -> Bool {
        guard acknowledged >= 0, total >= acknowledged else { return false }
        return Double(total - acknowledged) < limits.answerRate * Double(now &- since) / 1e9
    }
}
