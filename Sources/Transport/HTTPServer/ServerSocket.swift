private import CMicroHTTPD
private import Glibc
import Platform
import Synchronization

/// A TCP socket bound to the address that a server will listen on.
///
/// Binding and listening are two steps, so that a program learns of a taken port, and the number of a free one, before
/// it can answer. Until ``HTTPServer`` listens, the system refuses connections. The socket is made here and not by
/// libmicrohttpd, so that a failure has its reason.
///
/// The system lets a second socket be bound to the port while none listens; the one that listens later fails with
/// ``ServerStartError/addressInUse``.
package final class ServerSocket: Sendable {
    /// The port; the port that the system chose if 0 was requested.
    package let port: UInt16
    let descriptor: Int32
    private let isClosed = Atomic<Bool>(false)

    /// Binds to the address, without listening.
    ///
    /// - Parameters:
    ///   - host: `localhost` or a literal IPv4 or IPv6 address.
    ///   - port: 0 for any free port.
    /// - Throws: the reason why the address cannot be bound.
    package init(bindingTo host: String, port: UInt16) throws(ServerStartError) {
        guard let address = SocketAddress(host: host, port: port) else { throw .badHost(host) }
        let descriptor = socket(address.family, Int32(bitPattern: SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw .last("socket") }
        do throws(ServerStartError) {
            try bind(descriptor, to: address)
            self.port = try boundPort(of: descriptor)
        } catch {
            _ = Glibc.close(descriptor)
            throw error
        }
        self.descriptor = descriptor
    }

    deinit { close() }

    /// Lets the system take connections.
    func listen() throws(ServerStartError) {
        guard Glibc.listen(descriptor, SOMAXCONN) == 0 else { throw .last("listen") }
    }

    /// Refuses connections from now on, and ends an `accept` that waits.
    func shutDown() { _ = shutdown(descriptor, Int32(SHUT_RDWR)) }

    func close() {
        if !isClosed.exchange(true, ordering: .relaxed) { _ = Glibc.close(descriptor) }
    }
}

private func bind(_ descriptor: Int32, to address: SocketAddress) throws(ServerStartError) {
    set(descriptor, SOL_SOCKET, SO_REUSEADDR)
    if address.family == AF_INET6 { set(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY) }
    // No limit of ours counts the bytes that wait in the system to be sent or read, so few may wait, whatever the
    // window of the connection. The system doubles the second size, and gives half of the double as a window.
    set(descriptor, Int32(IPPROTO_TCP), TCP_NOTSENT_LOWAT, to: 32 * 1024)
    set(descriptor, SOL_SOCKET, SO_RCVBUF, to: 32 * 1024)
    guard address.bind(descriptor) == 0 else { throw .last("bind") }
}

private func set(_ descriptor: Int32, _ level: Int32, _ option: Int32, to value: Int32 = 1) {
    var value = value
    _ = unsafe setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
}

private func boundPort(of descriptor: Int32) throws(ServerStartError) -> UInt16 {
    var address = sockaddr_in6()
    var size = socklen_t(MemoryLayout<sockaddr_in6>.size)
    let code = unsafe withUnsafeMutableBytes(of: &address) { bytes in
        unsafe getsockname(descriptor, bytes.assumingMemoryBound(to: sockaddr.self).baseAddress, &size)
    }
    guard code == 0 else { throw .last("getsockname") }
    return UInt16(bigEndian: address.sin6_port)  // at the same offset as sin_port
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
