import Basics

/// The day on which a task is due: a date of the calendar without a time zone (RFC 3339 section 5.6, `full-date`).
///
/// A day is a day where the person is; the server compares it with nothing.
package struct DueDate: Hashable, Sendable {
    private let year: Int16
    private let month: UInt8
    private let day: UInt8

    /// A date of the years 1 to 9999 that exists, in the form `2026-11-30`; nil for anything else.
    package init?(_ text: String) {
        let bytes = text.utf8.span
        guard bytes.count == 10, bytes[4] == Self.dash, bytes[7] == Self.dash,
            let year = bytes.extracting(0..<4).decimal, year > 0,
            let month = bytes.extracting(5..<7).decimal, (1...12).contains(month),
            let day = bytes.extracting(8..<10).decimal, day > 0
        else { return nil }
        // There and back: finds 30 February.
        let date = CivilDate(year: year, month: month, day: day)
        guard CivilDate(daysSince1970: date.daysSince1970) == date else { return nil }
        (self.year, self.month, self.day) = (Int16(year), UInt8(month), UInt8(day))
    }

    /// The ten bytes.
    package var text: String {
        var bytes: [UInt8] = []
        append(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Appends the ten bytes.
    func append(to bytes: inout [UInt8]) {
        for divisor: Int16 in [1000, 100, 10, 1] { bytes.append(Self.digit(year / divisor)) }
        for number in [month, day] {
            bytes.append(Self.dash)
            bytes.append(Self.digit(Int16(number / 10)))
            bytes.append(Self.digit(Int16(number)))
        }
    }

    private static let dash = UInt8(ascii: "-")

    private static func digit(_ number: Int16) -> UInt8 {
        UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number % 10)
    }
}
