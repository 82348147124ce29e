/// How fast a client takes a long response, from when the enforcing thread first saw that response.
///
/// What the other end has acknowledged counts, not what the system's buffer has taken.
struct DownloadRate {
    /// The number of the request on its connection.
    let request: Int
    /// On the coarse monotonic clock, in nanoseconds.
    let since: UInt64
    /// Bytes of the connection that the client had by then; negative where the system cannot tell.
    let acknowledged: Int64

    /// Whether less was taken since then than the limits ask for.
    func isSlow(at now: UInt64, acknowledged total: Int64, _ limits: ServerLimits) -> Bool {
        guard acknowledged >= 0, total >= acknowledged else { return false }
        return Double(total - acknowledged) < limits.answerRate * Double(now &- since) / 1e9
    }
}
