/// The parts of an absolute `http` or `https` URL that determine the server (RFC 3986 section 3.2).
package struct WebAddress: Sendable, Hashable, CustomStringConvertible {
    /// The address as it was written, without a `/` at the end.
    package let text: String
    /// Whether the scheme is `https`.
    package let isEncrypted: Bool
    /// The host in lower case; an IPv6 address keeps its brackets.
    package let host: String
    /// The port; the scheme's default if it is absent.
    package let port: UInt16
    /// The segments of the path as they are written; a `/` at the end adds none.
    package let path: [String]
    /// The text after `?`, if there is one.
    package let query: String?
    package let hasFragment: Bool

    /// Takes a URL apart; nil if it is no plain web address.
    ///
    /// Other schemes, user information (`https://trusted.example@evil.example/`), backslashes, white space and
    /// characters outside of ASCII are refused.
    package init?(_ text: String) {
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\\") }) else { return nil }
        let lowered = text.lowercasedASCII
        guard let scheme = ["https://", "http://"].first(where: lowered.hasPrefix) else { return nil }
        isEncrypted = scheme == "https://"
        let authority = lowered.dropFirst(scheme.count).prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard let (host, port) = Self.hostAndPort(of: authority) else { return nil }
        self.host = host
        self.port = port ?? (isEncrypted ? 443 : 80)
        // Both texts are ASCII only, so they have the same length.
        let rest = text.dropFirst(scheme.count + authority.count)
        hasFragment = rest.contains("#")
        let parts = rest.prefix { $0 != "#" }.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        query = parts.count > 1 ? String(parts[1]) : nil
        var path = (parts.first ?? "").split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        if path.last == "" { path = path.dropLast() }
        self.path = path.map { String($0) }
        var end = text[...]
        while end.hasSuffix("/") { end.removeLast() }
        self.text = String(end)
    }

    package var description: String { text }

    /// Scheme and host as browsers write them in `Origin`, with the port if it is not the scheme's default.
    package var origin: String {
        let isDefault = port == (isEncrypted ? 443 : 80)
        return "\(isEncrypted ? "https" : "http")://\(host)\(isDefault ? "" : ":\(port)")"
    }

    /// Whether the host is this machine, so that plain `http` cannot be overheard.
    package var isLoopback: Bool { IPAddress.isLoopback(host: host) }

    /// Returns whether scheme, host and port are the same.
    package func isSameOrigin(as other: WebAddress) -> Bool {
        isEncrypted == other.isEncrypted && host == other.host && port == other.port
    }

    /// Returns whether both are on one host; `localhost` and the addresses of the loopback are one machine.
    ///
    /// An authority there has one issuer, and is reached as 127.0.0.1 by http and as localhost by https.
    package func isSameHost(as other: WebAddress) -> Bool {
        host == other.host || isLoopback && other.isLoopback
    }

    /// Returns the host, and the port if one is written.
    private static func hostAndPort(of authority: Substring) -> (host: String, port: UInt16?)? {
        let end = authority.hasPrefix("[") ? authority.firstIndex(of: "]").map(authority.index(after:)) : nil
        let host = authority[..<(end ?? authority.firstIndex(of: ":") ?? authority.endIndex)]
        guard isHost(host) else { return nil }
        let rest = authority[host.endIndex...]
        if rest.isEmpty { return (String(host), nil) }
        guard rest.first == ":", let port = UInt16(decimal: rest.dropFirst()) else { return nil }
        return (String(host), port)
    }

    private static func isHost(_ host: Substring) -> Bool {
        if host.hasPrefix("[") { return IPAddress(bracketed: host) != nil }
        return !host.isEmpty && host.allSatisfy { $0.isLetter || $0.isNumber || $0 == "-" || $0 == "." || $0 == "_" }
    }
}

extension String {
    /// The two parts of a web address, split at the slash after its host, as they are written.
    ///
    /// Examples are `https://contoso.com:8443` and `/path?query`; the path is empty if there is no such slash.
    package var originAndPath: (origin: String, path: String) {
        let parts = split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        return (parts.prefix(3).joined(separator: "/"), parts.count > 3 ? "/\(parts[3])" : "")
    }
}
