/// The parts of an `http` or `https` URL that decide whom one talks to (RFC 3986 section 3.2).
struct WebAddress: Equatable {
    /// Whether the scheme is `https`.
    let isEncrypted: Bool
    /// The host in lower case; an IPv6 address keeps its brackets.
    let host: String

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
        guard let host = Self.host(of: authority) else { return nil }
        self.host = host
    }

    /// The host before an optional port.
    private static func host(of authority: Substring) -> String? {
        let end = authority.hasPrefix("[") ? authority.firstIndex(of: "]").map(authority.index(after:)) : nil
        let host = authority[..<(end ?? authority.firstIndex(of: ":") ?? authority.endIndex)]
        let port = authority[host.endIndex...]
        guard isHost(host), port.isEmpty || UInt16(port.dropFirst()) != nil, port.isEmpty || port.first == ":" else {
            return nil
        }
        return String(host)
    }

    private static func isHost(_ host: Substring) -> Bool {
        if host.hasPrefix("[") {
            return host.count > 2 && host.dropFirst().dropLast().allSatisfy { $0.isHexDigit || $0 == ":" || $0 == "." }
        }
        return !host.isEmpty && host.allSatisfy { $0.isLetter || $0.isNumber || $0 == "-" || $0 == "." || $0 == "_" }
    }
}
