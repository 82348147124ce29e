package import Basics

/// The client whose request a proxy passes on (RFC 7239 section 5.2, and `X-Forwarded-For` before it).
///
/// Only the fields of a trusted proxy count, because anyone can write them. Each proxy on the way appends the address
/// that it saw, so the rightmost address that is no trusted proxy is the last that can be trusted.
package enum ForwardedClient: Sendable, Hashable {
    /// The proxy says nothing.
    case none
    /// The fields name no address, or only trusted proxies, or they disagree: a proxy writes one kind of field and may
    /// pass on the other as it came, so the client may have invented the other.
    case unclear
    /// The client's address, with its text as the proxy wrote it, without a port.
    case client(IPAddress, text: String)

    /// Reads the fields of a request.
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

    /// Returns the node of each list element that may name a client; an empty text if the element has none.
    private static func nodes(
        of headers: HeaderSection, _ name: String, _ node: (Substring) -> Substring
    ) -> [Substring] {
        headers.values(name).flatMap { value in
            value.split(separator: ",", omittingEmptySubsequences: false).map { node($0.trimmingBlanks) }
        }
    }

    /// Returns the value of `for` in one element of `Forwarded`.
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

    /// Returns the host of `192.0.2.1:80` or `[2001:db8::1]:80`, without port and brackets.
    private static func withoutPort(_ node: Substring) -> Substring {
        if node.hasPrefix("[") {
            guard let end = node.firstIndex(of: "]") else { return "" }
            return node[node.index(after: node.startIndex)..<end]
        }
        guard let colon = node.firstIndex(of: ":"), colon == node.lastIndex(of: ":") else { return node }
        return node[..<colon]
    }
}
