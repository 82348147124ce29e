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
    /// One token, whose bytes are looked at only if it is refused (``isWellFormed(_:)``).
    case token(ArraySlice<UInt8>)

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
        let token = value.dropFirst(start)
        return token.isEmpty ? .malformed : .token(token)
    }

    /// `OAuth` is the scheme's name in the drafts, to which NXOAuth2Client falls back (docs/internals/clients.md, "Credentials").
    private static let schemes = ["Bearer", "OAuth"]

    /// Whether the bytes are a `b64token` (RFC 6750 section 2.1).
    ///
    /// If they are not, the answer calls the request malformed, and not the token bad (V-04).
    package static func isWellFormed(_ token: ArraySlice<UInt8>) -> Bool {
        let letters = token.prefix { $0 != UInt8(ascii: "=") }
        return !letters.isEmpty && letters.allSatisfy { $0.isLetterOrDigit || "-._~+/".utf8.contains($0) }
            && token[letters.endIndex...].allSatisfy { $0 == UInt8(ascii: "=") }
    }
}
