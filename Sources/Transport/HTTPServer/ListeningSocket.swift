// Both have `sockaddr`, and which of them it belongs to depends on the order of compilation.
internal import Basics
internal import CMicroHTTPD
internal import Glibc
internal import HTTP
internal import Platform

/// A socket that listens, made here and not by libmicrohttpd, so that a failure has its reason.
struct ListeningSocket {
    let descriptor: Int32
    let port: UInt16

    init(host: String, port: UInt16) throws(ServerStartError) {
        guard let address = SocketAddress(host: host, port: port) else { throw .badHost(host) }
        descriptor = socket(address.family, kind, 0)
        guard descriptor >= 0 else { throw .last("socket") }
        do throws(ServerStartError) {
            try ListeningSocket.listen(descriptor, on: address)
            self.port = try ListeningSocket.port(of: descriptor)
        } catch {
            _ = Glibc.close(descriptor)
            throw error
        }
    }

    /// Binds a socket to the address, without listening, and closes it: what a start would find there.
    static func check(host: String, port: UInt16) throws(ServerStartError) {
        guard let address = SocketAddress(host: host, port: port) else { throw .badHost(host) }
        let descriptor = socket(address.family, kind, 0)
        guard descriptor >= 0 else { throw .last("socket") }
        defer { _ = Glibc.close(descriptor) }
        try bind(descriptor, to: address)
    }

    func close() { _ = Glibc.close(descriptor) }

    private static func listen(_ descriptor: Int32, on address: SocketAddress) throws(ServerStartError) {
        try bind(descriptor, to: address)
        guard Glibc.listen(descriptor, SOMAXCONN) == 0 else { throw .last("listen") }
    }

    private static func bind(_ descriptor: Int32, to address: SocketAddress) throws(ServerStartError) {
        set(descriptor, SOL_SOCKET, SO_REUSEADDR)
        if address.family == AF_INET6 { set(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY) }
        // What waits in the system to be sent would not be counted: it is kept short, the window of a connection is not.
        set(descriptor, Int32(IPPROTO_TCP), TCP_NOTSENT_LOWAT, to: 128 * 1024)
        guard address.bind(descriptor) == 0 else { throw .last("bind") }
    }

    private static func set(_ descriptor: Int32, _ level: Int32, _ option: Int32, to value: Int32 = 1) {
        var value = value
        _ = unsafe setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
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

private let kind = Int32(bitPattern: SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)

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
