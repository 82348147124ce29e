import Basics
package import HTTP

/// How a request presents its token (RFC 6750 section 2).
package enum BearerCredentials: Equatable, Sendable {
    /// Nothing usable: no field, or another scheme (V-06).
    case none
    /// A token in a query, which the settings do not allow (V-02).
    case queryNotAllowed
    /// Not what RFC 6750 allows: twice, in two places, or with bytes that no token has (V-03 to V-05).
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
        // Looked up once: each use of a static table asks whether it is made, which is dear for each byte.
        let (bytes, isTokenByte) = (token.span, isTokenByte)
        var padding = false
        for index in bytes.indices {
            if bytes[index] == UInt8(ascii: "=") {
                padding = true
            } else if padding || !isTokenByte[Int(bytes[index])] {
                return false
            }
        }
        return !bytes.isEmpty && bytes[0] != UInt8(ascii: "=")
    }

    private static let isTokenByte: [Bool] = {
        var table = [Bool](repeating: false, count: 256)
        for byte in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~+/".utf8 {
            table[Int(byte)] = true
        }
        return table
    }()
}
