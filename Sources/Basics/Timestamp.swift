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
    private static let dayLength: Int64 = 86_400_000

    /// The 24 bytes as a text.
    package var text: String {
        var bytes: [UInt8] = []
        append(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Appends the 24 bytes.
    package func append(to bytes: inout [UInt8]) {
        let form = self.form
        for index in form.indices { bytes.append(form[index]) }
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
        guard bytes.count == 24, let date = Self.date(in: bytes), let time = Self.time(in: bytes) else { return nil }
        self.init(milliseconds: date.daysSince1970 * Self.dayLength + Int64(time))
        // Writing the time again catches 30 February, hour 24 and every misplaced separator at once.
        guard self.text.isSame(as: text) else { return nil }
    }

    private static func date(in bytes: Span<UInt8>) -> CivilDate? {
        guard let year = bytes.extracting(0..<4).decimal, let month = bytes.extracting(5..<7).decimal,
            let day = bytes.extracting(8..<10).decimal, (1...12).contains(month)
        else { return nil }
        return CivilDate(year: year, month: month, day: day)
    }

    private static func time(in bytes: Span<UInt8>) -> Int? {
        guard let hour = bytes.extracting(11..<13).decimal, let minute = bytes.extracting(14..<16).decimal,
            let second = bytes.extracting(17..<19).decimal, let millisecond = bytes.extracting(20..<23).decimal
        else { return nil }
        return ((hour * 60 + minute) * 60 + second) * 1000 + millisecond
    }
}
