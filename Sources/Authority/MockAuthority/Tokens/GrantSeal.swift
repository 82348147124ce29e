import Basics
import JSON
import OpenSSL
import Tokens

/// Seals codes, refresh tokens and session cookies, so that the authority need not store them.
///
/// They look like the service's: five segments of which the second is empty, at least 800 characters, so that short
/// database columns and URL limits show up in tests. The content is authenticated, not secret
/// (docs/reproduced.md, "Refresh tokens and codes").
struct GrantSeal: Sendable {
    /// `{"kid":"cpimcore_09252015","ver":"1.0","zip":"Deflate","ser":"1.0"}`, as the service writes it.
    private static let header =
        "eyJraWQiOiJjcGltY29yZV8wOTI1MjAxNSIsInZlciI6IjEuMCIsInppcCI6IkRlZmxhdGUiLCJzZXIiOiIxLjAifQ"
    private static let shortest = 560

    let secret: [UInt8]

    func seal(_ value: JSONObject) -> String {
        var bytes = value.bytes
        bytes += Array(repeating: UInt8(ascii: " "), count: max(0, Self.shortest - bytes.count))
        let vector = Base64URL.encode(SecureRandom.bytes(12))
        let sealed = "\(Self.header)..\(vector).\(Base64URL.encode(bytes))"
        return "\(sealed).\(tag(sealed))"
    }

    /// The sealed value; `nil` if another key sealed it.
    func open(_ text: String) -> JSONObject? {
        guard let cut = text.utf8.lastIndex(of: UInt8(ascii: ".")) else { return nil }
        let sealed = String(text[..<cut])
        let given = Array(text[text.index(after: cut)...].utf8)
        guard ConstantTime.equal(given, Array(tag(sealed).utf8)) else { return nil }
        let segments = sealed.split(separator: ".", omittingEmptySubsequences: false)
        guard segments.count == 4, let bytes = Base64.decodeLenient(segments[3]) else { return nil }
        return (try? JSONValue(parsing: bytes))?.object
    }

    private func tag(_ sealed: String) -> String {
        Base64URL.encode(Array(HMACSHA256.authenticate(key: secret, message: Array(sealed.utf8)).prefix(16)))
    }
}
