import Basics

/// A response; only the server adds `Content-Length` or `Transfer-Encoding`, `Date` and `Connection`.
package struct Response: Sendable {
    package var status: Status
    package var headers: FieldLines
    /// The content, also for `HEAD`, which sends none of it.
    package var body: [UInt8]
    /// An object that is kept until the content is sent or given up, such as its place.
    package var kept: (any AnyObject & Sendable)?
    /// The content in place of ``body``, if the content is made while it is sent.
    package var stream: ResponseStream?

    package init(_ status: Status, headers: FieldLines = FieldLines(), body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// Creates a response of plain text, which no cache keeps.
    package init(_ status: Status, headers: FieldLines = FieldLines(), text: String) {
        self.init(status, headers: headers, body: Array(text.utf8))
        self.headers.append("Content-Type", "text/plain; charset=utf-8")
        self.headers.append("Cache-Control", "no-store")
    }
}

/// A status code of an answer (RFC 9110 section 15).
package struct Status: RawRepresentable, Hashable, Sendable, ExpressibleByIntegerLiteral {
    /// The three digits.
    package let rawValue: Int

    package init(rawValue: Int) { self.rawValue = rawValue }
    package init(integerLiteral value: Int) { self.rawValue = value }
}

/// The field lines of an answer as the server sends them, each with its CRLF (RFC 9112 section 5).
package struct FieldLines: Sendable, Equatable {
    /// Whole lines; each has one CRLF, at its end.
    package private(set) var bytes: [UInt8] = []

    /// Creates an empty list, with room for this many bytes.
    package init(reserving count: Int = 0) {
        if count > 0 { bytes.reserveCapacity(count) }
    }

    /// Appends a field; a field of the same name stays.
    ///
    /// A field is left out if it is empty or would break out of its line, or if only the server may send it.
    package mutating func append(_ name: String, _ value: String) {
        let (name, value) = (name.utf8.span, value.utf8.span)
        guard name.isNameOfHandlers, value.isOneLine else { return }
        append(name)
        bytes.append(UInt8(ascii: ":"))
        bytes.append(UInt8(ascii: " "))
        append(value)
        bytes.append(0x0D)
        bytes.append(0x0A)
    }

    package mutating func append(_ lines: FieldLines) { append(lines.bytes.span) }

    private mutating func append(_ text: Span<UInt8>) {
        unsafe text.withUnsafeBufferPointer { unsafe bytes.append(contentsOf: $0) }
    }

    /// Puts this field in the place of all fields of the name.
    package mutating func set(_ name: String, _ value: String) {
        remove(name)
        append(name, value)
    }

    package mutating func remove(_ name: String) {
        while let line = line(name, from: 0) { bytes.removeSubrange(line.lowerBound..<line.upperBound + 2) }
    }

    /// The value of the first field of this name, compared without case.
    package subscript(name: String) -> String? { values(name).first }

    /// Returns the values of all fields of this name, in order.
    package func values(_ name: String) -> [String] {
        var values: [String] = []
        var next = 0
        while let line = line(name, from: next) {
            values.append(String(decoding: bytes[line].dropFirst(name.utf8.count + 2), as: UTF8.self))
            next = line.upperBound + 2
        }
        return values
    }

    /// Returns whether there is a field of this name.
    package func contains(_ name: String) -> Bool { line(name, from: 0) != nil }

    /// Returns the range of the first line of this name after the start of a line, without its CRLF.
    private func line(_ name: String, from first: Int) -> Range<Int>? {
        let bytes = self.bytes.span
        var start = first
        while start < bytes.count, let end = bytes.next(0x0D, from: start) {
            let colon = start + name.utf8.count
            if colon < end, bytes[colon] == UInt8(ascii: ":"),
                bytes.extracting(start..<colon).isEqualIgnoringCase(to: name)
            {
                return start..<end
            }
            start = end + 2
        }
        return nil
    }
}

extension FieldLines: ExpressibleByDictionaryLiteral {
    package init(dictionaryLiteral fields: (String, String)...) {
        for (name, value) in fields { append(name, value) }
    }
}

extension Span<UInt8> {
    /// Whether a handler may send a field of this name; only the server knows the framing and the time of an answer.
    fileprivate var isNameOfHandlers: Bool {
        for index in indices where self[index] <= UInt8(ascii: " ") || self[index] == UInt8(ascii: ":") { return false }
        switch count {
        case 0: return false
        case 4: return !isEqualIgnoringCase(to: "Date")
        case 10: return !isEqualIgnoringCase(to: "Connection")
        case 14: return !isEqualIgnoringCase(to: "Content-Length")
        case 17: return !isEqualIgnoringCase(to: "Transfer-Encoding")
        default: return true
        }
    }

    /// Whether the text has bytes, and none that ends a line or a text of C.
    fileprivate var isOneLine: Bool {
        // The compiler makes vector code of this loop, which nearly always gives the answer.
        var lowest = UInt8.max
        for index in indices { lowest = min(lowest, self[index]) }
        return !isEmpty && (lowest > 0x0D || !contains { $0 == 0x0D || $0 == 0x0A || $0 == 0 })
    }
}

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
