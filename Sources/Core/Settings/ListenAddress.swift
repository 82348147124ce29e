/// Where a server listens: an address and a port.
package struct ListenAddress: Sendable, Hashable, CustomStringConvertible {
    /// An IPv4 or IPv6 address, without brackets.
    package let host: String
    /// The port; 0 lets the system choose one.
    package let port: UInt16

    /// This address and port.
    package init(host: String, port: UInt16) {
        self.host = host
        self.port = port
    }

    /// The address and port of a text such as `127.0.0.1:3000` or `[::1]:3000`; `localhost` is `127.0.0.1`.
    package init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(decimal: text[text.index(after: colon)...])
        else { return nil }
        let host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") {
            let address = host.dropFirst().dropLast()
            guard Self.isIPv6(address) else { return nil }
            self.init(host: String(address), port: port)
        } else if host == "localhost" {
            self.init(host: "127.0.0.1", port: port)
        } else {
            guard Self.isIPv4(host) else { return nil }
            self.init(host: String(host), port: port)
        }
    }

    /// Whether the address is an IPv6 one.
    package var isIPv6: Bool { host.contains(":") }

    /// Whether only this machine can reach it.
    package var isLoopback: Bool { host == "::1" || host.hasPrefix("127.") }

    /// The address under which a program on the same machine reaches it.
    package var seenFromHere: ListenAddress {
        switch host {
        case "0.0.0.0": ListenAddress(host: "127.0.0.1", port: port)
        case "::": ListenAddress(host: "::1", port: port)
        default: self
        }
    }

    /// As it is written in a setting and in a URL.
    package var description: String { isIPv6 ? "[\(host)]:\(port)" : "\(host):\(port)" }

    static func isIPv4(_ text: Substring) -> Bool {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts.allSatisfy { UInt8(decimal: $0) != nil }
    }

    /// Good enough to tell a slip of the pen; the system judges the rest when it listens.
    static func isIPv6(_ text: Substring) -> Bool {
        let groups = text.split(separator: ":", omittingEmptySubsequences: false)
        guard groups.count >= 3, groups.count <= 9 else { return false }
        return groups.allSatisfy { group in
            group.count <= 4 && group.allSatisfy(\.isHexDigit) || isIPv4(group)
        }
    }
}

extension FixedWidthInteger {
    /// The number of decimal digits and nothing else: no sign, no white space.
    init?(decimal text: Substring) {
        guard !text.isEmpty, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        self.init(text, radix: 10)
    }
}

extension SettingKind where Value == ListenAddress {
    /// An address and a port to listen on.
    package static let listenAddress = SettingKind(
        placeholder: "ADDRESS:PORT", expected: "an IP address and a port (IPv6 in brackets)", example: "127.0.0.1:3000"
    ) { ListenAddress($0) }
}
