import Basics

/// The target of a request in origin form, taken apart: path and query, decoded after they were split (V-144).
package struct RequestTarget: Sendable, Equatable {
    /// One argument of the query, decoded.
    package struct Argument: Sendable, Equatable {
        package let name: String
        /// The value; empty if there was no `=`.
        package let value: String

        package init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The text in the request line, whose query may carry a token: never log it.
    package let raw: String
    /// The path with a slash before each segment, decoded and without empty segments; empty for `/`.
    package let absolutePath: String
    package let query: [Argument]

    /// Creates a target of these parts; ``init(parsing:)`` takes apart the target that a client sent.
    package init(raw: String, absolutePath: String, query: [Argument] = []) {
        self.raw = raw
        self.absolutePath = absolutePath
        self.query = query
    }

    package var path: [String] {
        absolutePath.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }
    }

    /// The value of the first argument of this name, compared byte by byte.
    package subscript(name: String) -> String? { query[name] }
}

extension [RequestTarget.Argument] {
    /// The value of the first argument of this name, compared byte by byte.
    package subscript(name: String) -> String? { first { $0.name.isSame(as: name) }?.value }
}

extension RequestTarget {
    /// Takes apart the target of the request line: a path, the absolute form or `*` (V-144).
    ///
    /// A control character, a space, `#` and a character beyond ASCII must be percent-encoded. `%00` is refused, and
    /// in a path also `%2F`, a segment `.` or `..`, encoded or not, and what is not UTF-8. `*` is taken as an empty
    /// path; the caller must check that it suits the method.
    package init(parsing raw: String, host: @autoclosure () -> String? = nil) throws(HTTPFault) {
        if raw == "*" {
            self.init(raw: raw, absolutePath: "")
            return
        }
        let form = try TargetForm(raw, host: host)
        self.init(raw: raw, absolutePath: try form.path(), query: try form.query())
    }
}

/// The findings of one pass over the bytes of a target.
private struct TargetForm {
    private let text: String
    /// The index at which the path begins, which is after the authority in absolute form.
    private var start = 0
    private var question: Int?
    private var hasEscape = false
    /// Whether a segment may be empty or begin with a dot.
    private var hasOddSegment = false

    init(_ text: String, host: () -> String?) throws(HTTPFault) {
        self.text = text
        let bytes = text.utf8.span
        var previous: UInt8 = 0
        for index in bytes.indices {
            let byte = bytes[index]
            switch byte {
            case ...0x20, 0x7F..., UInt8(ascii: "#"): throw .target
            case UInt8(ascii: "%"): hasEscape = true
            case UInt8(ascii: "/"), UInt8(ascii: "."), UInt8(ascii: "?"):
                if previous == UInt8(ascii: "/") { hasOddSegment = true }
                if byte == UInt8(ascii: "?"), question == nil { question = index }
            default: break
            }
            previous = byte
        }
        if previous == UInt8(ascii: "/") { hasOddSegment = true }
        if bytes.isEmpty || bytes[0] != UInt8(ascii: "/") { try dropAuthority(host: host()) }
    }

    /// Turns the absolute form into the origin form, if it names the host that was asked (RFC 9112 section 3.2.2).
    private mutating func dropAuthority(host: String?) throws(HTTPFault) {
        guard let scheme = ["http://", "https://"].first(where: { text.beginsIgnoringCase($0) }) else { throw .target }
        let rest = text.utf8.dropFirst(scheme.utf8.count)
        let authority = rest.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
        guard let host, String(Substring(authority)).isEqualIgnoringCase(to: host) else { throw .target }
        start = scheme.utf8.count + authority.count
    }

    func path() throws(HTTPFault) -> String {
        // Most targets are a path that needs no decoding.
        if start == 0, question == nil, !hasEscape, !hasOddSegment { return text }
        let path = text.utf8.dropFirst(start).prefix((question ?? text.utf8.count) - start)
        if !hasEscape, !hasOddSegment { return String(Substring(path)) }
        var decoded = ""
        for piece in path.split(separator: UInt8(ascii: "/")) {
            decoded += "/"
            decoded += try segment(ArraySlice(piece))
        }
        return decoded
    }

    private func segment(_ piece: ArraySlice<UInt8>) throws(HTTPFault) -> String {
        let bytes = PercentDecoding(refusesSlash: true).decode(piece)
        guard let segment = bytes.flatMap({ String(validating: $0, as: UTF8.self) }), segment != ".", segment != ".."
        else { throw .target }
        return segment
    }

    func query() throws(HTTPFault) -> [RequestTarget.Argument] {
        guard let question else { return [] }
        return try rethrowing(as: { _ in HTTPFault.target }) { () throws(FormError) in
            try PercentDecoding(plusIsSpace: true).arguments(of: ArraySlice(text.utf8.dropFirst(question + 1)))
        }
    }
}

extension String {
    /// Whether this can be the value of `Host`: a name or an address, and perhaps a port, which may be empty (RFC 9110
    /// section 7.2, RFC 3986 section 3.2.3).
    package var isHostField: Bool { utf8.span.isHostField }

    /// Whether this value of `Host` names this machine: nobody can make a client send such a value to another machine.
    package var isLoopbackHost: Bool {
        guard isHostField else { return false }
        let host = if let end = firstIndex(of: "]") { self[...end] } else { prefix { $0 != ":" } }
        return IPAddress.isLoopback(host: host)
    }
}

extension Span<UInt8> {
    /// Whether these bytes can be the value of `Host`.
    package var isHostField: Bool {
        var end = 0
        if count > 0, self[0] == UInt8(ascii: "[") {
            while end < count, self[end] != UInt8(ascii: "]") { end += 1 }
            guard end < count, extracting(1..<end).isIPLiteral else { return false }
            end += 1
        } else {
            while end < count, self[end] != UInt8(ascii: ":") { end += 1 }
            guard end > 0, extracting(0..<end).isRegisteredName else { return false }
        }
        if end == count { return true }
        return self[end] == UInt8(ascii: ":") && extracting((end + 1)..<count).isPort
    }

    /// Whether the text between the brackets is an IPv6 address; addresses of future versions (`v1.…`) do not exist.
    private var isIPLiteral: Bool {
        guard let text = try? UTF8Span(validating: self), contains({ $0 == UInt8(ascii: ":") }) else { return false }
        return IPAddress(String(copying: text)) != nil
    }

    fileprivate var isPort: Bool { isEmpty || decimal.map { $0 <= 65535 } ?? false }

    /// Whether all characters are unreserved, delimiters within a part, or percent-encoded (RFC 3986 section 3.2.2).
    fileprivate var isRegisteredName: Bool {
        var index = 0
        while index < count {
            if self[index] == UInt8(ascii: "%") {
                guard index + 2 < count else { return false }
                let (high, low) = (self[index + 1].hexadecimalValue, self[index + 2].hexadecimalValue)
                guard high != nil, low != nil else { return false }
                index += 3
            } else {
                guard self[index].isNameCharacter else { return false }
                index += 1
            }
        }
        return true
    }
}

extension UInt8 {
    /// Whether this is unreserved, or a delimiter within a part (RFC 3986 section 2).
    fileprivate var isNameCharacter: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"), UInt8(ascii: "!"),
            UInt8(ascii: "$"), UInt8(ascii: "&")...UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "="):
            true
        default: false
        }
    }
}
