package import Basics

/// An address and a port on which a server listens.
package struct ListenAddress: Sendable, Hashable, CustomStringConvertible {
    /// An IPv4 or IPv6 address, without brackets.
    package let host: String
    /// The port; 0 lets the system choose one.
    package let port: UInt16

    package init(host: String, port: UInt16) {
        self.host = host
        self.port = port
    }

    /// Reads a text such as `127.0.0.1:3000` or `[::1]:3000`; `localhost` is `127.0.0.1`.
    package init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(decimal: text[text.index(after: colon)...])
        else { return nil }
        let host = text[..<colon]
        if IPAddress(bracketed: host) != nil {
            self.init(host: String(host.dropFirst().dropLast()), port: port)
        } else if host == "localhost" {
            self.init(host: "127.0.0.1", port: port)
        } else {
            guard !host.contains(":"), IPAddress(host) != nil else { return nil }
            self.init(host: String(host), port: port)
        }
    }

    var isIPv6: Bool { host.contains(":") }

    /// Whether only this machine can reach the address.
    package var isLoopback: Bool { IPAddress(host)?.isLoopback ?? false }

    /// Returns whether only one server can listen at both; IPv4 and IPv6 have ports of their own.
    package func excludes(_ other: ListenAddress) -> Bool {
        guard port == other.port, isIPv6 == other.isIPv6 else { return false }
        let addresses = [host, other.host].map { IPAddress($0) }
        return addresses[0] == addresses[1] || addresses.contains(IPAddress(isIPv6 ? "::" : "0.0.0.0"))
    }

    /// Returns whether another address takes the connections of IPv4 that would come to `[::]` and this port.
    package func leavesIPv4(to others: [ListenAddress]) -> Bool { others.contains { $0.port == port && !$0.isIPv6 } }

    /// The address under which a program on the same machine reaches the server.
    package var seenFromHere: ListenAddress {
        switch host {
        case "0.0.0.0", "::": ListenAddress(host: "127.0.0.1", port: port)
        default: self
        }
    }

    /// The address as a setting and a URL write it.
    package var description: String { isIPv6 ? "[\(host)]:\(port)" : "\(host):\(port)" }
}

extension SettingKind where Value == ListenAddress {
    /// An address and a port to listen on.
    package static let listenAddress = SettingKind(
        placeholder: "ADDRESS:PORT", expected: "an IP address and a port (IPv6 in brackets)", example: "127.0.0.1:3000"
    ) { ListenAddress($0) }
}

extension SettingKind where Value == IPAddressRange {
    /// A range of addresses that begin with the same bits.
    package static let addressRange = SettingKind(
        placeholder: "ADDRESS[/BITS]",
        expected: "an IP address, or a range such as 10.0.0.0/8 with no bit set after it",
        example: "10.1.0.0/16"
    ) { IPAddressRange($0) }
}
