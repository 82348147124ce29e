import Basics

/// A moment as HTTP writes it: `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110 section 5.6.7).
package enum HTTPDate {
    /// The text of this many seconds after 1970-01-01T00:00:00Z.
    package static func text(unixSeconds: Int64) -> String {
        let (days, seconds) = unixSeconds.quotientFloored(by: 86_400)
        let date = CivilDate(daysSince1970: days)
        let time = [seconds / 3600, seconds / 60 % 60, seconds % 60].map(\.twoDigits).joined(separator: ":")
        let weekday = weekdays[Int((days + 4).quotientFloored(by: 7).remainder)]
        return "\(weekday), \(date.day.twoDigits) \(months[Int(date.month) - 1]) \(date.year) \(time) GMT"
    }

    private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
}

/// A day of the Gregorian calendar.
private struct CivilDate {
    let year: Int64
    let month: Int64
    let day: Int64

    /// Counts in eras of 400 years and in years that begin in March, so that the leap day is the last.
    init(daysSince1970: Int64) {
        let (era, dayOfEra) = (daysSince1970 + 719_468).quotientFloored(by: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let march = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * march + 2) / 5 + 1
        month = march < 10 ? march + 3 : march - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }
}

extension Int64 {
    fileprivate func quotientFloored(by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }

    fileprivate var twoDigits: String { self < 10 ? "0\(self)" : "\(self)" }
}
