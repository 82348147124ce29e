/// A day of the proleptic Gregorian calendar.
///
/// The arithmetic counts years from March, so that the leap day is the last of its year, and eras of 400 years, after
/// which the calendar repeats (Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms").
package struct CivilDate: Equatable {
    package var year: Int
    package var month: Int
    package var day: Int

    private static let daysOfEra: Int64 = 146_097
    /// The days from 0000-03-01 to 1970-01-01.
    private static let epoch: Int64 = 719_468

    package init(year: Int, month: Int, day: Int) {
        self.year = year
        self.month = month
        self.day = day
    }

    package init(daysSince1970 days: Int64) {
        let shifted = days + Self.epoch
        let (era, day) = shifted.quotientAndRemainder(flooredBy: Self.daysOfEra)
        let dayOfEra = Int(day)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        self.day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        year = yearOfEra + Int(era) * 400 + (month <= 2 ? 1 : 0)
    }

    /// A date of the years 1 to 9999 that exists, in the form `2026-11-30`; nil for anything else.
    package init?(_ text: String) {
        let bytes = text.utf8.span
        let dash = UInt8(ascii: "-")
        guard bytes.count == 10, bytes[4] == dash, bytes[7] == dash,
            let year = bytes.extracting(0..<4).decimal, year > 0,
            let month = bytes.extracting(5..<7).decimal, (1...12).contains(month),
            let day = bytes.extracting(8..<10).decimal, day > 0
        else { return nil }
        self.init(year: year, month: month, day: day)
        // There and back: finds 30 February.
        guard CivilDate(daysSince1970: daysSince1970) == self else { return nil }
    }

    package var daysSince1970: Int64 {
        let yearFromMarch = Int64(month <= 2 ? year - 1 : year)
        let (era, yearOfEra) = yearFromMarch.quotientAndRemainder(flooredBy: 400)
        let monthFromMarch = Int64(month > 2 ? month - 3 : month + 9)
        let dayOfYear = (153 * monthFromMarch + 2) / 5 + Int64(day) - 1
        return era * Self.daysOfEra + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - Self.epoch
    }
}

extension Int64 {
    /// Divides and rounds down, also below zero, so that the remainder is never negative.
    package func quotientAndRemainder(flooredBy divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}
