import Basics

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
            case UInt8(ascii: "?"): if question == nil { question = index }
            case UInt8(ascii: "/"), UInt8(ascii: "."): if previous == UInt8(ascii: "/") { hasOddSegment = true }
            default: break
            }
            previous = byte
        }
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
        let end = question ?? text.utf8.count
        let path = text.utf8.dropFirst(start).prefix(end - start)
        // Most paths need no decoding.
        if !hasEscape, !hasOddSegment, path.last != UInt8(ascii: "/") { return String(Substring(path)) }
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
