package import Basics

/// The rule by which a task comes again (RFC 5545 section 3.3.10): `FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,FR`.
///
/// Weeks begin on Monday. A month that lacks a day has its last day instead (RFC 7529, `SKIP=BACKWARD`).
package struct RepeatRule: Sendable, Equatable {
    private enum Frequency: String {
        case daily = "DAILY"
        case weekly = "WEEKLY"
        case monthly = "MONTHLY"
        case yearly = "YEARLY"
    }

    /// The reason why a text is no rule for a task, as the end of a sentence: "repeat must be …".
    package struct Mistake: Error {
        package let expected: String
    }

    private static let weekdayNames = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"]

    private let frequency: Frequency
    private var interval = 1
    /// The month of a yearly rule, from 1; nil: the month of the first date.
    private var month: Int?
    /// The day of a monthly or yearly rule; nil, where no weekday is given: the day of the first date.
    private var day: Int?
    /// The weekdays of a weekly rule, from 0 for Monday, or the one of a monthly rule; none: that of the first date.
    private var weekdays: Set<Int> = []
    /// The place of a monthly rule's weekday in the month: 2 for the second, -1 for the last.
    private var ordinal = 0

    /// Reads a rule, whose parts may come in any order and case.
    package init(_ text: String) throws(Mistake) {
        var parts: [String: String] = [:]
        for part in text.uppercased().split(separator: ";", omittingEmptySubsequences: false) {
            let pair = part.split(separator: "=", omittingEmptySubsequences: false).map { String($0) }
            guard pair.count == 2, parts.updateValue(pair[1], forKey: pair[0]) == nil else {
                throw Mistake(expected: "parts such as FREQ=DAILY, each once, with a semicolon between two")
            }
        }
        guard let frequency = parts.removeValue(forKey: "FREQ").flatMap(Frequency.init) else {
            throw Mistake(expected: "a rule with FREQ=DAILY, WEEKLY, MONTHLY or YEARLY")
        }
        self.frequency = frequency
        for (name, value) in parts { try take(name, value) }
        guard frequency != .monthly || day == nil || ordinal == 0 else {
            throw Mistake(expected: "a rule with BYDAY or BYMONTHDAY, not both")
        }
        guard frequency != .yearly || day == nil || month != nil else {
            throw Mistake(expected: "a rule that has BYMONTH where FREQ=YEARLY has BYMONTHDAY")
        }
    }

    private mutating func take(_ name: String, _ value: String) throws(Mistake) {
        switch (name, frequency) {
        case ("INTERVAL", _): interval = try Self.number(name, value, upTo: 999)
        case ("BYMONTH", .yearly): month = try Self.number(name, value, upTo: 12)
        case ("BYMONTHDAY", .monthly), ("BYMONTHDAY", .yearly): day = try Self.number(name, value, upTo: 31)
        case ("BYDAY", .weekly):
            let days = value.split(separator: ",", omittingEmptySubsequences: false).map(Self.weekday)
            weekdays = Set(days.compactMap(\.self))
            guard weekdays.count == days.count else { throw Mistake(expected: "a rule with days such as BYDAY=MO,FR") }
        case ("BYDAY", .monthly):
            guard let weekday = Self.weekday(value.suffix(2)), let number = Int(value.dropLast(2)),
                (1...4).contains(number.magnitude)
            else { throw Mistake(expected: "a rule with one weekday of the month, BYDAY=2MO or BYDAY=-1FR (-4 to 4)") }
            (weekdays, ordinal) = ([weekday], number)
        default: throw Mistake(expected: "a rule without \(name.prefix(20)) where FREQ=\(frequency.rawValue)")
        }
    }

    private static func number(_ name: String, _ value: String, upTo most: Int64) throws(Mistake) -> Int {
        guard let number = Int64(decimal: value), (1...most).contains(number) else {
            throw Mistake(expected: "a rule whose \(name) is a number from 1 to \(most)")
        }
        return Int(number)
    }

    private static func weekday(_ name: Substring) -> Int? { weekdayNames.firstIndex { $0 == name } }

    /// The one text of the rule, which the server keeps and shows.
    package var text: String {
        let days = weekdays.sorted().map { (ordinal == 0 ? "" : "\(ordinal)") + Self.weekdayNames[$0] }
        let parts = [
            interval == 1 ? nil : "INTERVAL=\(interval)", month.map { "BYMONTH=\($0)" }, day.map { "BYMONTHDAY=\($0)" },
            days.isEmpty ? nil : "BYDAY=\(days.joined(separator: ","))",
        ]
        return (["FREQ=\(frequency.rawValue)"] + parts.compactMap(\.self)).joined(separator: ";")
    }
}

extension RepeatRule {
    /// Returns the first date after `last`, which is not before `start`, of the rule from `start` on, and the rule of
    /// the task that is due then; nil for a date after the year 9999.
    ///
    /// The rule then names the day that a short month has taken from the date, so that it is not lost.
    package func next(from start: CivilDate, after last: CivilDate) -> (date: CivilDate, rule: RepeatRule)? {
        let (first, after) = (start.daysSince1970, last.daysSince1970)
        let number: Int64? =
            switch frequency {
            case .daily: first + ((after - first) / Int64(interval) + 1) * Int64(interval)
            case .weekly: weeklyDay(from: first, after: after)
            case .monthly, .yearly: monthlyDay(from: start, after: last)
            }
        guard let number, case let date = CivilDate(daysSince1970: number), date.year <= 9999 else { return nil }
        var rule = self
        if [.monthly, .yearly].contains(frequency), day == nil, ordinal == 0, date.day != start.day {
            rule.day = start.day
            if frequency == .yearly { rule.month = date.month }
        }
        return (date, rule)
    }

    private func weeklyDay(from first: Int64, after: Int64) -> Int64? {
        let monday = first - Int64(CivilDate.weekday(first))
        let days = weekdays.isEmpty ? [CivilDate.weekday(first)] : weekdays
        return (after + 1...after + 7 * Int64(interval + 1)).first { day in
            days.contains(CivilDate.weekday(day)) && (day - monday) / 7 % Int64(interval) == 0
        }
    }

    private func monthlyDay(from start: CivilDate, after last: CivilDate) -> Int64? {
        let months = 12 * last.year + last.month - 1
        return (months...months + 12 * (interval + 1)).lazy.filter { isDue(inMonth: $0, from: start) }
            .map { dayOf(year: $0 / 12, month: $0 % 12 + 1, from: start) }.first { $0 > last.daysSince1970 }
    }

    /// Whether the rule has a date in a month, by the number of months from the year 0.
    private func isDue(inMonth number: Int, from start: CivilDate) -> Bool {
        guard frequency == .yearly else { return (number - 12 * start.year - start.month + 1) % interval == 0 }
        return number % 12 + 1 == month ?? start.month && (number / 12 - start.year) % interval == 0
    }

    private func dayOf(year: Int, month: Int, from start: CivilDate) -> Int64 {
        let first = CivilDate(year: year, month: month, day: 1).daysSince1970
        let end = CivilDate(year: month == 12 ? year + 1 : year, month: month % 12 + 1, day: 1).daysSince1970
        guard ordinal != 0, let weekday = weekdays.first else { return min(first + Int64(day ?? start.day), end) - 1 }
        // The first day from which on the weekday comes for this time.
        let earliest = ordinal > 0 ? first + 7 * Int64(ordinal - 1) : end + 7 * Int64(ordinal)
        return earliest + Int64((weekday - CivilDate.weekday(earliest) + 7) % 7)
    }
}
