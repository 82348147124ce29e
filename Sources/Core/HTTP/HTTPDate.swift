import Basics

/// A moment as HTTP writes it: `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110 section 5.6.7).
package enum HTTPDate {
    /// Returns the text of this many seconds after 1970-01-01T00:00:00Z.
    package static func text(unixSeconds: Int64) -> String {
        let (days, second) = unixSeconds.quotientAndRemainder(flooredBy: 86_400)
        let date = CivilDate(daysSince1970: days)
        let time = [second / 3600, second / 60 % 60, second % 60].map(twoDigits).joined(separator: ":")
        let weekday = weekdays[Int((days + 4).quotientAndRemainder(flooredBy: 7).remainder)]
        return "\(weekday), \(twoDigits(Int64(date.day))) \(months[date.month - 1]) \(date.year) \(time) GMT"
    }

    private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    private static func twoDigits(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
