import Basics
private import Glibc

/// An IP address with a port, as the socket calls take it.
package struct SocketAddress: Sendable {
    private enum Storage {
        case version4(sockaddr_in)
        case version6(sockaddr_in6)
    }

    private let storage: Storage

    /// Takes a literal address, with or without brackets, or `localhost`, which is 127.0.0.1; nil for any other host.
    package init?(host: String, port: UInt16) {
        let hasBrackets = host.hasPrefix("[") && host.hasSuffix("]")
        let literal = host == "localhost" ? "127.0.0.1" : hasBrackets ? host.dropFirst().dropLast() : host[...]
        guard let address = IPAddress(literal) else { return nil }
        // An IPv4 address in its IPv6-mapped form counts as IPv6 here.
        if literal.contains(":") {
            var version6 = sockaddr_in6()
            version6.sin6_family = sa_family_t(AF_INET6)
            version6.sin6_port = port.bigEndian
            unsafe withUnsafeMutableBytes(of: &version6.sin6_addr) {
                unsafe $0.storeBytes(of: address.bits.bigEndian, as: UInt128.self)
            }
            storage = .version6(version6)
        } else {
            var version4 = sockaddr_in()
            version4.sin_family = sa_family_t(AF_INET)
            version4.sin_port = port.bigEndian
            version4.sin_addr.s_addr = UInt32(truncatingIfNeeded: address.bits).bigEndian
            storage = .version4(version4)
        }
    }

    /// `AF_INET` or `AF_INET6`.
    package var family: Int32 {
        switch storage {
        case .version4: AF_INET
        case .version6: AF_INET6
        }
    }

    /// Calls `bind`; returns 0, or -1 with the reason in `errno`.
    package func bind(_ socket: Int32) -> Int32 {
        let bind = { (bytes: UnsafeRawBufferPointer) in
            unsafe Glibc.bind(socket, bytes.assumingMemoryBound(to: sockaddr.self).baseAddress, socklen_t(bytes.count))
        }
        return switch storage {
        case .version4(let address): unsafe withUnsafeBytes(of: address, bind)
        case .version6(let address): unsafe withUnsafeBytes(of: address, bind)
        }
    }
}
