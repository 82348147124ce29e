import Basics
import Tasks

/// Times of log lines (RFC 3339, UTC, milliseconds), the date rendered once a second.
struct LogClock: Sendable {
    private var second: Int64 = .min
    private var rendered: [UInt8] = []

    /// The text of a time in milliseconds since 1970.
    mutating func text(of milliseconds: Int64) -> [UInt8] {
        let now = milliseconds / 1000
        if now != second {
            second = now
            rendered = Array(Timestamp(milliseconds: now * 1000).text.utf8)
        }
        let fraction = Int(milliseconds % 1000)
        for (offset, scale) in [100, 10, 1].enumerated() {
            rendered[20 + offset] = UInt8(ascii: "0") + UInt8(fraction / scale % 10)
        }
        return rendered
    }
}
