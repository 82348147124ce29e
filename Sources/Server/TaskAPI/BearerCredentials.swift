package import HTTP

/// What a request presents to show who it speaks for (RFC 6750 section 2).
package enum BearerCredentials: Equatable, Sendable {
    /// Nothing usable: no field, or another scheme (V-06).
    case none
    /// A token in a query, which the settings do not allow (V-02).
    case queryNotAllowed
    /// Not what RFC 6750 allows: twice, in two places, or with bytes that no token has (V-03 to V-05).
    case malformed
    /// One token. Its bytes are looked at only if it is refused (``isWellFormed(_:)``): one that was accepted
    /// before, which is the common case, has passed that check.
    case token(String)

    /// Reads the credentials of a request.
    ///
    /// `OAuth` is the scheme's name in the drafts; NXOAuth2Client falls back to it.
    package init(of head: RequestHead, allowQuery: Bool) {
        var field: String?
        for candidate in head.headers.fields where candidate.name.isSameField(as: "Authorization") {
            guard field == nil else {
                self = .malformed
                return
            }
            field = candidate.value
        }
        let queried = head.target.query.isEmpty ? nil : head.target["access_token"]
        switch (field, queried) {
        case (nil, nil): self = .none
        case (nil, let token?): self = allowQuery ? .token(token) : .queryNotAllowed
        case (let value?, nil): self = Self.read(value)
        case (let value?, .some): self = Self.read(value) == .none ? .none : .malformed
        }
    }

    private static func read(_ value: String) -> BearerCredentials {
        let bytes = value.utf8.span
        var (start, end) = (isBegun(bytes, by: "Bearer") ? 6 : isBegun(bytes, by: "OAuth") ? 5 : 0, bytes.count)
        guard start > 0 else { return .none }
        if start < end, !isBlank(bytes[start]) { return .none }
        while start < end, bytes[start] == UInt8(ascii: " ") { start += 1 }
        while start < end, isBlank(bytes[end - 1]) { end -= 1 }
        guard start < end, let token = try? UTF8Span(validating: bytes.extracting(start..<end)) else {
            return .malformed
        }
        return .token(String(copying: token))
    }

    private static func isBegun(_ bytes: Span<UInt8>, by scheme: String) -> Bool {
        let scheme = scheme.utf8.span
        guard bytes.count >= scheme.count else { return false }
        for index in scheme.indices where bytes[index].lowercasedASCII != scheme[index].lowercasedASCII { return false }
        return true
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }

    /// `b64token = 1*( ALPHA / DIGIT / "-" / "." / "_" / "~" / "+" / "/" ) *"="`: what else was sent is a malformed
    /// request, not a bad token (V-04).
    package static func isWellFormed(_ token: String) -> Bool {
        var padding = false
        for byte in token.utf8 {
            if byte == UInt8(ascii: "=") {
                padding = true
            } else if padding || !isTokenByte[Int(byte)] {
                return false
            }
        }
        return !token.isEmpty && token.utf8.first != UInt8(ascii: "=")
    }

    private static let isTokenByte: [Bool] = {
        var table = [Bool](repeating: false, count: 256)
        for byte in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~+/".utf8 {
            table[Int(byte)] = true
        }
        return table
    }()
}
