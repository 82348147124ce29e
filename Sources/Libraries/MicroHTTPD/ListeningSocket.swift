// Both have `sockaddr`, and which of them it belongs to depends on the order of compilation.
internal import CMicroHTTPD
internal import Glibc

/// A socket that listens, made here and not by libmicrohttpd, so that a failure has its reason.
struct ListeningSocket {
    let descriptor: Int32
    let port: UInt16

    init(host: String, port: UInt16) throws(ServerStartError) {
        let address = try SocketAddress(host: host, port: port)
        descriptor = socket(address.family, Int32(SOCK_STREAM.rawValue) | flags, 0)
        guard descriptor >= 0 else { throw .last("socket") }
        do throws(ServerStartError) {
            try ListeningSocket.listen(descriptor, on: address)
            self.port = try ListeningSocket.port(of: descriptor)
        } catch {
            _ = Glibc.close(descriptor)
            throw error
        }
    }

    func close() { _ = Glibc.close(descriptor) }

    private static func listen(_ descriptor: Int32, on address: SocketAddress) throws(ServerStartError) {
        set(descriptor, SOL_SOCKET, SO_REUSEADDR)
        if address.family == AF_INET6 { set(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY) }
        guard address.bind(descriptor) == 0 else { throw .last("bind") }
        guard Glibc.listen(descriptor, SOMAXCONN) == 0 else { throw .last("listen") }
    }

    private static func set(_ descriptor: Int32, _ level: Int32, _ option: Int32) {
        var one: Int32 = 1
        _ = unsafe setsockopt(descriptor, level, option, &one, socklen_t(MemoryLayout<Int32>.size))
    }

    private static func port(of descriptor: Int32) throws(ServerStartError) -> UInt16 {
        var address = sockaddr_in6()
        var size = socklen_t(MemoryLayout<sockaddr_in6>.size)
        let code = unsafe withUnsafeMutableBytes(of: &address) { bytes in
            unsafe getsockname(descriptor, bytes.assumingMemoryBound(to: sockaddr.self).baseAddress, &size)
        }
        guard code == 0 else { throw .last("getsockname") }
        return UInt16(bigEndian: address.sin6_port)  // at the same place as sin_port
    }
}

private let flags = Int32(bitPattern: SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)

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

extension String {
    fileprivate var withoutBrackets: String {
        hasPrefix("[") && hasSuffix("]") ? String(dropFirst().dropLast()) : self
    }
}

extension ServerStartError {
    fileprivate static func last(_ call: String) -> ServerStartError {
        switch errno {
        case EADDRINUSE: .addressInUse
        case EADDRNOTAVAIL: .addressNotAvailable
        case EACCES, EPERM: .noPermission
        default: .system(call: call, code: errno)
        }
    }
}
