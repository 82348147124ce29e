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

    package init(in headers: HeaderSection, trusting proxies: [IPAddressRange]) {
        // An element of `Forwarded` has the form of parameters; one that names no client counts as an empty node.
        let standard = headers.elements("Forwarded").map { FieldParameters(";\($0)".utf8)["for"] ?? "" }
        let old = headers.elements("X-Forwarded-For")
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

    private static func client(in nodes: [String], trusting proxies: [IPAddressRange]) -> ForwardedClient {
        for node in nodes.reversed() {
            let host = withoutPort(node[...])
            guard let address = IPAddress(host) else { return .unclear }
            if !proxies.contains(address) {
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

/// The scheme and the host that a client asked for, as the first proxy on the way says (RFC 7239 sections 5.3 and 5.4,
/// and `X-Forwarded-Proto` and `X-Forwarded-Host` before it).
///
/// Only the fields of a trusted proxy count, which must replace those of its clients.
package struct ForwardedOrigin: Sendable, Hashable {
    /// `http` or `https`; nil if the proxy says nothing else.
    package let scheme: String?
    /// A value as `Host` has it; nil if the proxy says nothing else.
    package let host: String?

    package init(in headers: HeaderSection) {
        let standard = headers.elements("Forwarded").first.map { FieldParameters(";\($0)".utf8) }
        func value(_ parameter: String, _ field: String) -> String? {
            standard?[parameter] ?? headers.elements(field).first
        }
        let scheme = value("proto", "X-Forwarded-Proto")?.lowercasedASCII
        self.scheme = scheme.flatMap { ["http", "https"].contains($0) ? $0 : nil }
        host = value("host", "X-Forwarded-Host").flatMap { $0.isHostField ? $0 : nil }
    }
}

extension HeaderSection {
    /// Returns the elements of a list, also empty ones, without blanks around them.
    fileprivate func elements(_ name: String) -> [String] {
        values(name).flatMap { value in
            value.split(separator: ",", omittingEmptySubsequences: false).map { String($0.trimmingBlanks) }
        }
    }
}
