import Basics

/// Why a request target was refused (V-144).
package enum TargetError: Error, Sendable, Equatable, CaseIterable {
    /// Neither a path, nor the absolute form, nor `*`.
    case form
    /// The absolute form names another authority than `Host`.
    case authority
    /// A control character, a space, a `#`, or a character beyond ASCII that is not percent-encoded.
    case byte
    /// A `%` without two hexadecimal digits.
    case escape
    /// `%00`.
    case zero
    /// `%2F` in the path.
    case slash
    /// A segment `.` or `..`, encoded or not.
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
    package init(parsing raw: String, host: String? = nil) throws(TargetError) {
        if raw == "*" {
            self.init(raw: raw, path: [])
            return
        }
        var form = TargetForm(raw)
        guard form.isClean else { throw .byte }
        try form.dropAuthority(host: host)
        self.init(raw: raw, path: try form.path(), query: try form.query())
    }
}

/// The findings of one pass over the bytes of a target.
private struct TargetForm {
    let text: String
    private let bytes: [UInt8]
    private(set) var isClean = true
    private var hasEscape = false
    private var start = 0
    private var question: Int?

    init(_ text: String) {
        self.text = text
        bytes = Array(text.utf8)
        for index in bytes.indices {
            let byte = bytes[index]
            if byte == UInt8(ascii: "%") { hasEscape = true }
            if byte == UInt8(ascii: "?"), question == nil { question = index }
            if byte <= 0x20 || byte >= 0x7F || byte == UInt8(ascii: "#") { isClean = false }
        }
    }

    /// Turns the absolute form into the origin form, if it names the host that was asked (RFC 9112 section 3.2.2).
    mutating func dropAuthority(host: String?) throws(TargetError) {
        if bytes.first == UInt8(ascii: "/") { return }
        guard let scheme = ["http://", "https://"].first(where: { text.beginsIgnoringCase($0) }) else { throw .form }
        let authority = scheme.utf8.count
        start = bytes[authority...].firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? bytes.count
        let named = String(decoding: bytes[authority..<start], as: UTF8.self)
        guard let host, named.isSameField(as: host) else { throw .authority }
    }

    func path() throws(TargetError) -> [String] {
        let end = question ?? bytes.count
        var segments: [String] = []
        var first = start
        for index in start..<end where bytes[index] == UInt8(ascii: "/") {
            if first < index { segments.append(try segment(bytes[first..<index])) }
            first = index + 1
        }
        if first < end { segments.append(try segment(bytes[first..<end])) }
        return segments
    }

    private func segment(_ piece: ArraySlice<UInt8>) throws(TargetError) -> String {
        var segment = String(decoding: piece, as: UTF8.self)
        if hasEscape {
            let bytes = try rethrowing(as: TargetError.init) { () throws(PercentError) in
                try PercentDecoding(refusesSlash: true).decode(piece)
            }
            guard let decoded = String(validating: bytes, as: UTF8.self) else { throw .encoding }
            segment = decoded
        }
        if segment == "." || segment == ".." { throw .dots }
        return segment
    }

    func query() throws(TargetError) -> [RequestTarget.Argument] {
        guard let question else { return [] }
        return try rethrowing(as: TargetError.init) { () throws(PercentError) in
            try PercentDecoding(plusIsSpace: true).arguments(of: bytes[(question + 1)...])
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
