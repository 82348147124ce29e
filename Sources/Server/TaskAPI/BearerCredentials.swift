import Basics
package import HTTP

/// How a request presents its token (RFC 6750 section 2).
package enum BearerCredentials: Equatable, Sendable {
    /// There is no field `Authorization`, or it has another scheme (V-06).
    case none
    /// A token in a query, which the settings do not allow (V-02).
    case queryNotAllowed
    /// RFC 6750 does not allow the form: two tokens, two places, or bytes that no token has (V-03 to V-05).
    case malformed
    /// One token. Its bytes are looked at only if it is refused (``isWellFormed(_:)``): one that was accepted
    /// before, which is the common case, has passed that check.
    case token(ArraySlice<UInt8>)

    /// Reads the credentials of a request.
    ///
    /// `OAuth` is the scheme's name in the drafts; NXOAuth2Client falls back to it
    /// (docs/clients.md, "Credentials").
    package init(of head: RequestHead, allowQuery: Bool) {
        let field: ArraySlice<UInt8>?
        switch head.headers.occurrence(of: "Authorization") {
        case .never: field = nil
        case .once(let value): field = value
        case .repeated:
            self = .malformed
            return
        }
        var queried: ArraySlice<UInt8>?
        for argument in head.target.query where argument.name.utf8.elementsEqual("access_token".utf8) {
            guard queried == nil else {
                self = .malformed
                return
            }
            queried = ArraySlice(argument.value.utf8)
        }
        switch (field, queried) {
        case (nil, nil): self = .none
        case (nil, let token?): self = allowQuery ? .token(token) : .queryNotAllowed
        case (let value?, nil): self = Self.read(value)
        case (let value?, .some): self = Self.read(value) == .none ? .none : .malformed
        }
    }

    private static func read(_ value: ArraySlice<UInt8>) -> BearerCredentials {
        let bytes = value.span
        guard let scheme = schemes.first(where: { bytes.beginsIgnoringCase($0) }) else { return .none }
        var start = scheme.utf8.count
        if start < bytes.count, !bytes[start].isBlank { return .none }
        while start < bytes.count, bytes[start] == UInt8(ascii: " ") { start += 1 }
        var token = value.dropFirst(start)
        while let last = token.last, last.isBlank { token.removeLast() }
        return token.isEmpty ? .malformed : .token(token)
    }

    private static let schemes = ["Bearer", "OAuth"]

    /// `b64token = 1*( ALPHA / DIGIT / "-" / "." / "_" / "~" / "+" / "/" ) *"="`: anything else is a malformed
    /// request, not a bad token (V-04).
    package static func isWellFormed(_ token: ArraySlice<UInt8>) -> Bool {
        let bytes = token.span
        var end = bytes.count
        while end > 0, bytes[end - 1] == UInt8(ascii: "=") { end -= 1 }
        return end > 0 && bytes.extracting(0..<end).areTokenLetters
    }
}

extension Span<UInt8> {
    /// Whether all are letters, digits, or of `-._~+/`; without branches, so that it becomes vector code.
    fileprivate var areTokenLetters: Bool {
        var others: UInt8 = 0
        for index in indices {
            // One of the indices; a check of each would keep this from becoming vector code.
            let byte = unsafe self[unchecked: index]
            let alphanumeric: UInt8 = ((byte | 0x20) &- 0x61 < 26 ? 1 : 0) | (byte &- 0x30 < 10 ? 1 : 0)
            // The first of these is also "." and "/".
            let sign: UInt8 =
                (byte &- 0x2D < 3 ? 1 : 0) | (byte == 0x5F ? 1 : 0) | (byte == 0x7E ? 1 : 0) | (byte == 0x2B ? 1 : 0)
            others |= 1 ^ (alphanumeric | sign)
        }
        return others == 0
    }
}
