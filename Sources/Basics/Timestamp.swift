/// A time of UTC as text, `2016-08-30T16:48:40.123Z`: RFC 3339, always with milliseconds, always 24 bytes.
///
/// Days become dates by arithmetic alone (proleptic Gregorian calendar), without a library or a time zone. Times before
/// year 0 and after year 9999 are shown as the first and the last that fit.
package struct Timestamp: Sendable, Equatable {
    /// The milliseconds since 1970, UTC.
    package let milliseconds: Int64

    /// Creates the time this many milliseconds after 1970-01-01T00:00:00Z.
    package init(milliseconds: Int64) {
        self.milliseconds = min(max(milliseconds, Self.first), Self.last)
    }

    /// Creates the time this many seconds after 1970-01-01T00:00:00Z.
    package init(seconds: Int64) {
        self.init(milliseconds: min(max(seconds, Self.first / 1000), Self.last / 1000) * 1000)
    }

    /// 0000-01-01T00:00:00.000Z.
    private static let first: Int64 = -62_167_219_200_000
    /// 9999-12-31T23:59:59.999Z.
    private static let last: Int64 = 253_402_300_799_999
    fileprivate static let dayLength: Int64 = 86_400_000

    package var text: String {
        var bytes: [UInt8] = []
        append(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Appends the 24 bytes.
    package func append(to bytes: inout [UInt8]) {
        let form = self.form
        unsafe form.span.withUnsafeBufferPointer { unsafe bytes.append(contentsOf: $0) }
    }

    /// The 24 bytes.
    package var form: InlineArray<24, UInt8> {
        let (day, remainder) = milliseconds.quotientAndRemainder(flooredBy: Self.dayLength)
        let date = CivilDate(daysSince1970: day)
        let time = Int(remainder)
        return [
            digit(date.year / 1000), digit(date.year / 100), digit(date.year / 10), digit(date.year), Self.dash,
            digit(date.month / 10), digit(date.month), Self.dash,
            digit(date.day / 10), digit(date.day), UInt8(ascii: "T"),
            digit(time / 36_000_000), digit(time / 3_600_000 % 10), Self.colon,
            digit(time / 600_000 % 6), digit(time / 60_000), Self.colon,
            digit(time / 10_000 % 6), digit(time / 1000), UInt8(ascii: "."),
            digit(time / 100), digit(time / 10), digit(time), UInt8(ascii: "Z"),
        ]
    }

    private static let dash = UInt8(ascii: "-")
    private static let colon = UInt8(ascii: ":")

    private func digit(_ number: Int) -> UInt8 {
        UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number % 10)
    }
}

extension Timestamp {
    /// Reads a time, if the text has the 24-byte form and the time exists in the calendar.
    package init?(parsing text: String) {
        let bytes = text.utf8.span
        guard bytes.count == 24, let date = CivilDate(bytes.extracting(0..<10)), let time = Self.time(in: bytes) else {
            return nil
        }
        self.init(milliseconds: date.daysSince1970 * Self.dayLength + Int64(time))
        // Writing the time again catches hour 24 and every misplaced separator at once.
        guard self.text.isSame(as: text) else { return nil }
    }

    private static func time(in bytes: Span<UInt8>) -> Int? {
        guard let hour = bytes.extracting(11..<13).decimal, let minute = bytes.extracting(14..<16).decimal,
            let second = bytes.extracting(17..<19).decimal, let millisecond = bytes.extracting(20..<23).decimal
        else { return nil }
        return ((hour * 60 + minute) * 60 + second) * 1000 + millisecond
    }
}

/// A day of the proleptic Gregorian calendar.
///
/// The arithmetic counts years from March, so that the leap day is the last of its year, and eras of 400 years, after
/// which the calendar repeats (Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms").
package struct CivilDate: Equatable, Sendable {
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
        self.init(text.utf8.span)
        guard year > 0 else { return nil }
    }

    /// The same, also of the year 0.
    fileprivate init?(_ bytes: Span<UInt8>) {
        let dash = UInt8(ascii: "-")
        guard bytes.count == 10, bytes[4] == dash, bytes[7] == dash, let year = bytes.extracting(0..<4).decimal,
            let month = bytes.extracting(5..<7).decimal, (1...12).contains(month),
            let day = bytes.extracting(8..<10).decimal, day > 0
        else { return nil }
        self.init(year: year, month: month, day: day)
        // There and back: finds 30 February.
        guard CivilDate(daysSince1970: daysSince1970) == self else { return nil }
    }

    /// The date in the form `2026-11-30`.
    package var text: String {
        String(Timestamp(milliseconds: daysSince1970 * Timestamp.dayLength).text.prefix(10))
    }

    /// The day of UTC at a time in milliseconds since 1970.
    package init(at milliseconds: Int64) {
        self.init(daysSince1970: milliseconds.quotientAndRemainder(flooredBy: Timestamp.dayLength).quotient)
    }

    /// The weekday of a day since 1970, from 0 for Monday; 1970 began on a Thursday.
    package static func weekday(_ daysSince1970: Int64) -> Int {
        Int((daysSince1970 + 3).quotientAndRemainder(flooredBy: 7).remainder)
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
