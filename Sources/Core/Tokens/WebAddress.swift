/// The parts of an `http` or `https` URL that decide whom one talks to (RFC 3986 section 3.2).
struct WebAddress: Equatable {
    /// Whether the scheme is `https`.
    let isEncrypted: Bool
    /// The host in lower case; an IPv6 address keeps its brackets.
    let host: String
    /// The port, that of the scheme where none is written.
    let port: UInt16
    /// The segments of the path as they are written; a `/` at the end adds none.
    let path: [String]
    /// What stands after `?`, if that is there.
    let query: String?
    /// Whether there is a `#`.
    let hasFragment: Bool

    /// Whether scheme, host and port are the other's.
    func isSameOrigin(as other: WebAddress) -> Bool {
        isEncrypted == other.isEncrypted && Text.same(host, other.host) && port == other.port
    }

    /// Whether the host is this machine.
    ///
    /// Names other than `localhost` are not looked up: only what must be the loopback counts.
    var isLoopback: Bool {
        if Text.same(host, "localhost") || Text.same(host, "[::1]") { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts.first == "127" && parts.allSatisfy { UInt8($0) != nil }
    }

    /// Whether both are on one host: `localhost` and the addresses of the loopback are one machine.
    ///
    /// An authority there has one issuer, and is reached as 127.0.0.1 by http and as localhost by https.
    func isSameHost(as other: WebAddress) -> Bool {
        Text.same(host, other.host) || isLoopback && other.isLoopback
    }

    /// Takes an address apart; nothing for what is no plain web address.
    ///
    /// Refused: other schemes, user information (`https://trusted.example@evil.example/`), backslashes, white space,
    /// anything outside of ASCII.
    init?(_ text: String) {
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\\") }) else { return nil }
        let lowered = Text.lowered(text)
        guard let scheme = ["https://", "http://"].first(where: lowered.hasPrefix) else { return nil }
        isEncrypted = scheme == "https://"
        let authority = lowered.dropFirst(scheme.count).prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard let (host, port) = Self.hostAndPort(of: authority) else { return nil }
        self.host = host
        self.port = port ?? (isEncrypted ? 443 : 80)
        // ASCII only, so both texts have the same length.
        let rest = text.dropFirst(scheme.count + authority.count)
        hasFragment = rest.contains("#")
        let parts = rest.prefix { $0 != "#" }.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        query = parts.count > 1 ? String(parts[1]) : nil
        var path = (parts.first ?? "").split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        if path.last == "" { path = path.dropLast() }
        self.path = path.map { String($0) }
    }

    /// The host, and the port if one is written.
    private static func hostAndPort(of authority: Substring) -> (host: String, port: UInt16?)? {
        let end = authority.hasPrefix("[") ? authority.firstIndex(of: "]").map(authority.index(after:)) : nil
        let host = authority[..<(end ?? authority.firstIndex(of: ":") ?? authority.endIndex)]
        guard isHost(host) else { return nil }
        let rest = authority[host.endIndex...]
        if rest.isEmpty { return (String(host), nil) }
        guard rest.first == ":", let port = UInt16(rest.dropFirst()) else { return nil }
        return (String(host), port)
    }

    private static func isHost(_ host: Substring) -> Bool {
        if host.hasPrefix("[") {
            return host.count > 2 && host.dropFirst().dropLast().allSatisfy { $0.isHexDigit || $0 == ":" || $0 == "." }
        }
        return !host.isEmpty && host.allSatisfy { $0.isLetter || $0.isNumber || $0 == "-" || $0 == "." || $0 == "_" }
    }
}
