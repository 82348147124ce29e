// Both have `sockaddr`, and which of them it belongs to depends on the order of compilation.
internal import Basics
internal import CMicroHTTPD
internal import Glibc

/// A literal address with a port.
enum SocketAddress {
    case version4(sockaddr_in)
    case version6(sockaddr_in6)

    init(host: String, port: UInt16) throws(ServerStartError) {
        let literal = host == "localhost" ? "127.0.0.1" : host.withoutBrackets
        var version4 = sockaddr_in()
        version4.sin_family = sa_family_t(AF_INET)
        version4.sin_port = port.bigEndian
        var version6 = sockaddr_in6()
        version6.sin6_family = sa_family_t(AF_INET6)
        version6.sin6_port = port.bigEndian
        if unsafe inet_pton(AF_INET, literal, &version4.sin_addr) == 1 {
            self = .version4(version4)
        } else if unsafe inet_pton(AF_INET6, literal, &version6.sin6_addr) == 1 {
            self = .version6(version6)
        } else {
            throw .badHost(host)
        }
    }

    var family: Int32 {
        switch self {
        case .version4: AF_INET
        case .version6: AF_INET6
        }
    }

    func bind(_ descriptor: Int32) -> Int32 {
        switch self {
        case .version4(let address): SocketAddress.bind(descriptor, address)
        case .version6(let address): SocketAddress.bind(descriptor, address)
        }
    }

    private static func bind<Address>(_ descriptor: Int32, _ address: Address) -> Int32 {
        unsafe withUnsafeBytes(of: address) { bytes in
            let start = unsafe bytes.assumingMemoryBound(to: sockaddr.self).baseAddress
            return unsafe Glibc.bind(descriptor, start, socklen_t(bytes.count))
        }
    }
}

/// The address in a `sockaddr`, as text without port; `-` where there is none.
func text(of address: UnsafePointer<sockaddr>?) -> String {
    guard let address = unsafe address else { return "-" }
    let family = Int32(unsafe address.pointee.sa_family)
    let offset =
        family == AF_INET6
        ? MemoryLayout<sockaddr_in6>.offset(of: \.sin6_addr) : MemoryLayout<sockaddr_in>.offset(of: \.sin_addr)
    let source = unsafe UnsafeRawPointer(address) + (offset ?? 0)
    return unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(INET6_ADDRSTRLEN)) { buffer in
        guard let text = unsafe inet_ntop(family, source, buffer.baseAddress, socklen_t(buffer.count)) else {
            return "-"
        }
        return unsafe String(cString: text)
    }
}

extension IPAddress {
    /// The address in a `sockaddr`; the unspecified one where there is none.
    init(of address: UnsafePointer<sockaddr>?) {
        guard let address = unsafe address else {
            self.init(bits: 0)
            return
        }
        switch Int32(unsafe address.pointee.sa_family) {
        case AF_INET:
            let bits = unsafe UnsafeRawPointer(address).loadUnaligned(as: sockaddr_in.self).sin_addr.s_addr
            self.init(version4: UInt32(bigEndian: bits))
        case AF_INET6:
            let bytes = unsafe UnsafeRawPointer(address).loadUnaligned(as: sockaddr_in6.self).sin6_addr
            self.init(
                bits: unsafe withUnsafeBytes(of: bytes) {
                    UInt128(bigEndian: unsafe $0.loadUnaligned(as: UInt128.self))
                })
        default: self.init(bits: 0)
        }
    }
}

extension String {
    fileprivate var withoutBrackets: String {
        hasPrefix("[") && hasSuffix("]") ? String(dropFirst().dropLast()) : self
    }
}
