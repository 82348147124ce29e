import Basics

/// A request without its body; a class, so that the connection, the handler and its later work share one copy.
package final class RequestHead: Sendable {
    package let method: Method
    package let target: RequestTarget
    package let headers: HeaderSection
    /// The number of this request: letters and digits, in the log and in `X-Request-Id`.
    package let identifier: String
    /// The address of the client, without port.
    package let peer: String

    package init(
        method: Method, target: RequestTarget, headers: HeaderSection = HeaderSection(bytes: [], lines: []),
        identifier: String = "0", peer: String = "127.0.0.1"
    ) {
        self.method = method
        self.target = target
        self.headers = headers
        self.identifier = identifier
        self.peer = peer
    }
}

/// A request method (RFC 9110 section 9); case matters.
package enum Method: Hashable, Sendable {
    case get, head, post, put, patch, delete, options
    /// Any other token.
    case other(String)

    package init(_ name: String) {
        switch name {
        case "GET": self = .get
        case "HEAD": self = .head
        case "POST": self = .post
        case "PUT": self = .put
        case "PATCH": self = .patch
        case "DELETE": self = .delete
        case "OPTIONS": self = .options
        default: self = .other(name)
        }
    }

    /// The name in a request line.
    package var name: String {
        switch self {
        case .get: "GET"
        case .head: "HEAD"
        case .post: "POST"
        case .put: "PUT"
        case .patch: "PATCH"
        case .delete: "DELETE"
        case .options: "OPTIONS"
        case .other(let name): name
        }
    }
}

/// The header fields of a request as they were received, duplicates kept (RFC 9110 section 6.3).
///
/// No text is made of a field until someone asks for it. ``mayContain(_:)`` finds most missing fields without a
/// search.
package struct HeaderSection: Sendable {
    /// The ranges of one field line in ``bytes``.
    package struct Line: Sendable {
        package let name: Range<Int>
        /// The range of the value without white space around it.
        package let value: Range<Int>

        package init(name: Range<Int>, value: Range<Int>) {
            self.name = name
            self.value = value
        }
    }

    package let bytes: [UInt8]
    package let lines: [Line]
    /// A bit for the length and the first letter of each name; names may share one.
    @usableFromInline package let names: UInt64

    /// Takes the lines of a section in these bytes; their values may have white space around them.
    package init(bytes: [UInt8], lines: consuming [Line]) {
        let all = bytes.span
        var names: UInt64 = 0
        for index in lines.indices {
            let (name, value) = (lines[index].name, lines[index].value)
            if !name.isEmpty { names |= Self.bit(all[name.lowerBound], name.count) }
            if let last = value.last, all[value.lowerBound].isBlank || all[last].isBlank {
                lines[index] = Line(name: name, value: all.trimming(value))
            }
        }
        self.bytes = bytes
        self.lines = lines
        self.names = names
    }

    /// Returns the bit of a name that begins with this byte.
    @inlinable static func bit(_ first: UInt8, _ count: Int) -> UInt64 {
        1 << UInt64((Int(first.lowercasedASCII) &+ 5 &* count) & 63)
    }

    /// Returns whether there can be a field of this name; false means that there is none.
    @inlinable package func mayContain(_ name: String) -> Bool {
        name.utf8.first.map { names & Self.bit($0, name.utf8.count) != 0 } ?? false
    }

    /// Returns whether there is a field of this name, compared without case.
    @inlinable package func contains(_ name: String) -> Bool { mayContain(name) && firstValue(name) != nil }

    /// The value of the first field of this name.
    @inlinable package subscript(name: String) -> String? { mayContain(name) ? firstText(name) : nil }

    /// Returns the values of all fields of this name, in order.
    package func values(_ name: String) -> [String] {
        lines.filter { isNamed($0, name) }.map { text($0.value) }
    }

    /// Calls the closure with each member of the list that the fields of this name make (RFC 9110 section 5.6.1).
    ///
    /// The members have no white space around them. They are read in place, because browsers send them with most
    /// requests.
    @inline(__always) func forEachMember(of name: String, _ body: (Span<UInt8>) -> Void) {
        guard mayContain(name) else { return }
        for line in lines where isNamed(line, name) {
            let list = bytes.span.extracting(line.value)
            var start = 0
            while start < list.count {
                let end = list.next(UInt8(ascii: ","), from: start) ?? list.count
                body(list.extracting(list.trimming(start..<end)))
                start = end + 1
            }
        }
    }

    /// How often a field occurs that is allowed once.
    package enum Occurrence: Equatable, Sendable {
        case never
        case once(ArraySlice<UInt8>)
        case repeated
    }

    package func occurrence(of name: String) -> Occurrence {
        var found: Range<Int>?
        for line in lines where isNamed(line, name) {
            guard found == nil else { return .repeated }
            found = line.value
        }
        return found.map { .once(bytes[$0]) } ?? .never
    }

    /// All fields in the order in which they came, as text.
    package var fields: [RequestTarget.Argument] {
        lines.map { RequestTarget.Argument(name: text($0.name), value: text($0.value)) }
    }

    @usableFromInline package func firstText(_ name: String) -> String? { firstValue(name).map(text) }

    @usableFromInline package func firstValue(_ name: String) -> Range<Int>? {
        for line in lines where isNamed(line, name) { return line.value }
        return nil
    }

    func isNamed(_ line: Line, _ name: String) -> Bool {
        // Most names differ in length, and then no byte is compared.
        line.name.count == name.utf8.count && bytes.span.extracting(line.name).isEqualIgnoringCase(to: name)
    }

    private func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }
}

extension Span<UInt8> {
    /// Returns the range without the white space at its ends.
    func trimming(_ range: Range<Int>) -> Range<Int> {
        var (start, end) = (range.lowerBound, range.upperBound)
        while start < end, self[end - 1].isBlank { end -= 1 }
        while start < end, self[start].isBlank { start += 1 }
        return start..<end
    }
}
