package import Basics

/// The client whose request a proxy passes on, as the proxy reports it (RFC 7239 section 5.2, and `X-Forwarded-For` before it).
///
/// Only for requests that a trusted proxy sent: anyone can write these fields. Each proxy on the way
/// appends the address that it saw, so the rightmost one that is no trusted proxy is the last that can be trusted.
package enum ForwardedClient: Sendable, Hashable {
    /// The proxy says nothing.
    case none
    /// It names no address, or only those of trusted proxies; or the two kinds of field disagree: a proxy writes one kind and
    /// may pass on the other as it came, so the client may have invented it.
    case unclear
    /// The client's address, and the same as the proxy wrote it, without a port.
    case client(IPAddress, text: String)

    /// What the fields of a request say.
    package init(in headers: HeaderSection, trusting proxies: [IPAddressRange]) {
        let standard = Self.nodes(of: headers, "Forwarded", Self.forwardedNode)
        let old = Self.nodes(of: headers, "X-Forwarded-For") { $0 }
        switch (standard.isEmpty, old.isEmpty) {
        case (true, true): self = .none
        case (false, true): self = Self.client(in: standard, trusting: proxies)
        case (true, false): self = Self.client(in: old, trusting: proxies)
        case (false, false):
            let both = (Self.client(in: standard, trusting: proxies), Self.client(in: old, trusting: proxies))
            if case (.client(let one, _), .client(let other, _)) = both, one == other {
                self = both.0
            } else {
                self = .unclear
            }
        }
    }

    /// The last part of each list element that names a client; an element without one is an empty text.
    private static func nodes(
        of headers: HeaderSection, _ name: String, _ node: (Substring) -> Substring
    ) -> [Substring] {
        headers.values(name).flatMap { value in
            value.split(separator: ",", omittingEmptySubsequences: false).map { node($0.trimmingBlanks) }
        }
    }

    /// The value of `for` in one element of `Forwarded`.
    private static func forwardedNode(_ element: Substring) -> Substring {
        for pair in element.split(separator: ";") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, String(parts[0].trimmingBlanks).isEqualIgnoringCase(to: "for") else { continue }
            let value = parts[1].trimmingBlanks
            return value.count > 1 && value.hasPrefix("\"") && value.hasSuffix("\"")
                ? value.dropFirst().dropLast() : value
        }
        return ""
    }

    private static func client(in nodes: [Substring], trusting proxies: [IPAddressRange]) -> ForwardedClient {
        for node in nodes.reversed() {
            let host = withoutPort(node)
            guard let address = IPAddress(host) else { return .unclear }
            if !proxies.contains(where: { $0.contains(address) }) {
                return .client(address, text: String(host))
            }
        }
        return .unclear
    }

    /// `192.0.2.1:80` and `[2001:db8::1]:80` without port and brackets.
    private static func withoutPort(_ node: Substring) -> Substring {
        if node.hasPrefix("[") {
            guard let end = node.firstIndex(of: "]") else { return "" }
            return node[node.index(after: node.startIndex)..<end]
        }
        guard let colon = node.firstIndex(of: ":"), colon == node.lastIndex(of: ":") else { return node }
        return node[..<colon]
    }
}
