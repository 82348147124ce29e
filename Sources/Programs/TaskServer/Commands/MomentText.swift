import Basics

/// A time of a token for people: `2026-11-22 19:04:05 UTC, 5 minutes ago`.
struct MomentText {
    /// Seconds since 1970, as the claim has it.
    let moment: Int64
    let now: Int64

    var text: String {
        let stamp = Timestamp(seconds: moment).text
        return "\(stamp.prefix(10)) \(stamp.dropFirst(11).prefix(8)) UTC, \(distance)"
    }

    private var distance: String {
        // Saturated, because a claim may be any number.
        let (difference, overflow) = moment.subtractingReportingOverflow(now)
        let seconds = overflow ? UInt64.max : difference.magnitude
        guard seconds > 0 else { return "now" }
        let length = Self.length(of: seconds)
        return moment < now ? "\(length) ago" : "in \(length)"
    }

    private static func length(of seconds: UInt64) -> String {
        switch seconds {
        case ..<120: seconds.counted("second")
        case ..<7200: (seconds / 60).counted("minute")
        case ..<172_800: (seconds / 3600).counted("hour")
        default: (seconds / 86_400).counted("day")
        }
    }
}
