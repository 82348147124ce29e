/// An absolute `http` or `https` URL of a setting.
package struct WebAddress: Sendable, Hashable, CustomStringConvertible {
    /// As it was written, without a `/` at the end.
    package let text: String
    /// Whether it is `https`.
    package let isSecure: Bool
    /// The host in lower case, without brackets.
    package let host: String
    /// The port, if it was written.
    package let port: UInt16?

    /// The URL of a text; nil where it is not absolute, or holds user information, a fragment or white space.
    package init?(_ text: String) {
        let lower = text.lowercased()
        guard lower.hasPrefix("https://") || lower.hasPrefix("http://"),
            text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }), !text.contains("#")
        else { return nil }
        isSecure = lower.hasPrefix("https://")
        let authority = lower.dropFirst(isSecure ? 8 : 7).prefix { $0 != "/" && $0 != "?" }
        guard let (host, port) = Self.split(authority) else { return nil }
        self.host = host
        self.port = port
        var end = text[...]
        while end.hasSuffix("/") { end.removeLast() }
        self.text = String(end)
    }

    /// Whether it names this machine, so that plain `http` cannot be overheard.
    package var isLoopback: Bool { host == "localhost" || host == "::1" || isLoopbackIPv4 }

    private var isLoopbackIPv4: Bool { host.hasPrefix("127.") && ListenAddress.isIPv4(host[...]) }

    /// As it was written, without a `/` at the end.
    package var description: String { text }

    private static func split(_ authority: Substring) -> (host: String, port: UInt16?)? {
        if authority.hasPrefix("[") {
            let address = authority.dropFirst().prefix { $0 != "]" }
            let rest = authority.dropFirst(address.count + 2)
            guard ListenAddress.isIPv6(address), authority.contains("]") else { return nil }
            return withPort(String(address), rest)
        }
        let host = authority.prefix { $0 != ":" }
        guard !host.isEmpty, host.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "-" || $0 == "." || $0 == "_" })
        else { return nil }
        return withPort(String(host), authority.dropFirst(host.count))
    }

    private static func withPort(_ host: String, _ rest: Substring) -> (host: String, port: UInt16?)? {
        if rest.isEmpty { return (host, nil) }
        guard rest.hasPrefix(":"), let port = UInt16(decimal: rest.dropFirst()) else { return nil }
        return (host, port)
    }
}

extension SettingKind where Value == WebAddress {
    /// An absolute `https` URL; whether plain `http` is good is the table's to say.
    package static func webAddress(example: String) -> SettingKind {
        SettingKind(
            placeholder: "URL", expected: "a URL with https:// (http:// only on this machine)", example: example
        ) { WebAddress($0) }
    }
}
