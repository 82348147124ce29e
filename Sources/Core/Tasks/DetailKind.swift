import Basics
package import JSON

/// The values that a detail can have, in the form that JSON has of them.
package enum DetailKind: Sendable {
    /// A day of the calendar without a time zone (RFC 3339 section 5.6, `full-date`), as text.
    case date
    /// 1 to this many bytes of UTF-8 without U+0000, kept and compared byte for byte.
    case text(longest: Int)
    /// A finite number, at most this far from 0.
    case number(greatest: Int64)
    /// The value true. A task without the detail counts as false.
    case flag

    /// The most bytes of a text that a person writes; nil for other kinds.
    package var longestText: Int? {
        if case .text(let longest) = self { longest } else { nil }
    }

    /// Returns the value in its one form, or nil if a detail of this kind cannot have it.
    ///
    /// A whole number becomes an integer, so -0 is 0.
    package func checked(_ value: JSONValue) -> JSONValue? {
        switch (self, value) {
        case (.date, .string(let text)): CivilDate(text) == nil ? nil : value
        case (.text(let longest), .string(let text)):
            (1...longest).contains(text.utf8.count) && !text.containsNUL ? value : nil
        case (.number(let greatest), .integer(let number)): number.magnitude <= greatest ? value : nil
        case (.number(let greatest), .real(let number)):
            abs(number) <= Double(greatest) ? Int64(exactly: number).map { .integer($0) } ?? value : nil
        case (.flag, .boolean(true)): value
        case (.date, _), (.text, _), (.number, _), (.flag, _): nil
        }
    }
}
