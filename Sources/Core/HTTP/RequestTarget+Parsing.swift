import Basics

/// Why a request target was refused (V-144).
package enum TargetError: Error, Sendable, Equatable, CaseIterable {
    /// The target is neither a path, nor the absolute form, nor `*`.
    case form
    /// The absolute form names another authority than `Host`.
    case authority
    /// The target has a control character, a space, a `#`, or a character beyond ASCII that is not percent-encoded.
    case byte
    /// A `%` has no two hexadecimal digits after it.
    case escape
    /// The target has `%00`.
    case zero
    /// The path has `%2F`.
    case slash
    /// The path has a segment `.` or `..`, encoded or not.
    case dots
    /// The path does not decode to UTF-8.
    case encoding
    /// The query has more arguments than ``FormURLEncoded/mostFields``.
    case tooManyArguments
}

extension RequestTarget {
    /// Takes apart the target of the request line.
    ///
    /// The path is split before it is decoded, so that an encoded slash never becomes a separator. `*` is taken as an
    /// empty path; the caller must check that it suits the method.
    package init(parsing raw: String, host: @autoclosure () -> String? = nil) throws(TargetError) {
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

    init(_ text: String, host: () -> String?) throws(TargetError) {
        self.text = text
        let bytes = text.utf8.span
        var previous: UInt8 = 0
        for index in bytes.indices {
            let byte = bytes[index]
            switch byte {
            case ...0x20, 0x7F..., UInt8(ascii: "#"): throw .byte
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
    private mutating func dropAuthority(host: String?) throws(TargetError) {
        guard let scheme = ["http://", "https://"].first(where: { text.beginsIgnoringCase($0) }) else { throw .form }
        let rest = text.utf8.dropFirst(scheme.utf8.count)
        let authority = rest.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
        guard let host, String(Substring(authority)).isEqualIgnoringCase(to: host) else { throw .authority }
        start = scheme.utf8.count + authority.count
    }

    func path() throws(TargetError) -> String {
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

    private func segment(_ piece: ArraySlice<UInt8>) throws(TargetError) -> String {
        let bytes = try rethrowing(as: TargetError.init) { () throws(PercentError) in
            try PercentDecoding(refusesSlash: true).decode(piece)
        }
        guard let segment = String(validating: bytes, as: UTF8.self) else { throw .encoding }
        if segment == "." || segment == ".." { throw .dots }
        return segment
    }

    func query() throws(TargetError) -> [RequestTarget.Argument] {
        guard let question else { return [] }
        return try rethrowing(as: TargetError.init) { () throws(PercentError) in
            try PercentDecoding(plusIsSpace: true).arguments(of: ArraySlice(text.utf8.dropFirst(question + 1)))
        }
    }
}

extension TargetError {
    fileprivate init(_ error: PercentError) {
        self =
            switch error {
            case .badEscape: .escape
            case .zero: .zero
            case .slash: .slash
            case .tooMany: .tooManyArguments
            }
    }
}
