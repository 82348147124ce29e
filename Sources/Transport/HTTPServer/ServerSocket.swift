// Both CMicroHTTPD and Glibc have `sockaddr`; the order of compilation decides to which of them it belongs.
package import Basics
import CMicroHTTPD
import Glibc
import Platform
import Synchronization

/// A TCP socket bound to the address that a server will listen on, or one that listens already.
///
/// Binding and listening are two steps, so that a program learns of a taken port, and the number of a free one, before
/// it can answer. Meanwhile the system refuses connections, and lets a second socket be bound to the port; the one
/// that listens later fails with ``Basics/OperatorError/addressInUse``. The socket is made here and not by
/// libmicrohttpd, so that a failure has its reason.
package final class ServerSocket: Sendable {
    /// The literal address to which the socket is bound.
    package let host: String
    /// The port; the port that the system chose if 0 was requested.
    package let port: UInt16
    let descriptor: Int32
    /// Whether the socket was inherited, so that other processes may hold it, too.
    let isShared: Bool
    /// The descriptor that ends the wait for a connection.
    private let wakeup: Int32
    private let isClosed = Atomic<Bool>(false)

    /// Binds to the literal address of IPv4 or IPv6, without listening; port 0 is any free port.
    ///
    /// `::` takes connections of IPv4, too, unless `onlyIPv6` is set, and is `0.0.0.0` in a system without IPv6.
    package convenience init(bindingTo host: String, port: UInt16, onlyIPv6: Bool = false) throws(OperatorError) {
        var wanted = unsafe addrinfo()
        unsafe wanted.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV
        unsafe wanted.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var found: UnsafeMutablePointer<addrinfo>?
        guard unsafe getaddrinfo(host, "\(port)", &wanted, &found) == 0, let address = unsafe found else {
            throw OperatorError("'\(host)' is not an address")
        }
        defer { unsafe freeaddrinfo(address) }
        let kind = Int32(bitPattern: SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        let descriptor = unsafe socket(address.pointee.ai_family, kind, 0)
        let isBoth = !onlyIPv6 && IPAddress(host) == IPAddress("::")
        if descriptor < 0, errno == EAFNOSUPPORT, isBoth {
            try self.init(bindingTo: "0.0.0.0", port: port)
            return
        }
        guard descriptor >= 0 else { throw .last("socket") }
        do throws(OperatorError) {
            try unsafe bind(descriptor, to: address.pointee, onlyIPv6: !isBoth)
            try self.init(takingOwnershipOf: descriptor, isShared: false)
        } catch {
            _ = Glibc.close(descriptor)
            throw error
        }
    }

    /// Takes over a socket that listens already, as a service manager passes it to the programs that it starts.
    ///
    /// The socket goes on listening when this server stops, and connections that wait are for its successor. A
    /// descriptor that is no listening TCP socket stays open, and an error is thrown.
    package convenience init(inheriting descriptor: Int32) throws(OperatorError) {
        guard [AF_INET, AF_INET6].contains(option(SO_DOMAIN, of: descriptor)),
            option(SO_TYPE, of: descriptor) == SOCK_STREAM.rawValue, option(SO_ACCEPTCONN, of: descriptor) == 1
        else { throw .notListening(descriptor) }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        limitBuffers(of: descriptor)
        try self.init(takingOwnershipOf: descriptor, isShared: true)
    }

    private init(takingOwnershipOf descriptor: Int32, isShared: Bool) throws(OperatorError) {
        // Two processes may wait for one connection, and `accept` must not block the one that comes too late.
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        (host, port) = try boundAddress(of: descriptor)
        wakeup = CMicroHTTPD_wakeup()
        guard wakeup >= 0 else { throw .last("eventfd") }
        self.descriptor = descriptor
        self.isShared = isShared
    }

    deinit { close() }

    /// Lets the system take connections.
    func listen() throws(OperatorError) {
        guard Glibc.listen(descriptor, SOMAXCONN) == 0 else { throw .last("listen") }
    }

    /// Waits until there is a connection to accept, or until ``wake()`` is called.
    func wait() {
        var entries = [descriptor, wakeup].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        _ = unsafe poll(&entries, nfds_t(entries.count), -1)
    }

    /// Ends this wait and all later ones; the socket goes on listening.
    func wake() { CMicroHTTPD_wake(wakeup) }

    func close() {
        guard !isClosed.exchange(true, ordering: .relaxed) else { return }
        _ = Glibc.close(descriptor)
        _ = Glibc.close(wakeup)
    }
}

private func bind(_ descriptor: Int32, to address: addrinfo, onlyIPv6: Bool) throws(OperatorError) {
    set(descriptor, SOL_SOCKET, SO_REUSEADDR)
    // The system's default depends on its settings (net.ipv6.bindv6only).
    if unsafe address.ai_family == AF_INET6 { set(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, to: onlyIPv6 ? 1 : 0) }
    limitBuffers(of: descriptor)
    guard unsafe Glibc.bind(descriptor, address.ai_addr, address.ai_addrlen) == 0 else { throw .last("bind") }
}

/// Limits the bytes that wait in the system to be sent or read, whatever the window of the connection, because no limit
/// of ours counts them.
private func limitBuffers(of descriptor: Int32) {
    set(descriptor, Int32(IPPROTO_TCP), TCP_NOTSENT_LOWAT, to: 32 * 1024)
    // The system doubles this size, and gives half of the double as a window.
    set(descriptor, SOL_SOCKET, SO_RCVBUF, to: 32 * 1024)
}

private func set(_ descriptor: Int32, _ level: Int32, _ option: Int32, to value: Int32 = 1) {
    var value = value
    _ = unsafe setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
}

/// Reads a number that the system knows of a socket; -1 if the descriptor is no socket.
private func option(_ name: Int32, of descriptor: Int32) -> Int32 {
    var value: Int32 = -1
    var size = socklen_t(MemoryLayout<Int32>.size)
    _ = unsafe getsockopt(descriptor, SOL_SOCKET, name, &value, &size)
    return value
}

private func boundAddress(of descriptor: Int32) throws(OperatorError) -> (host: String, port: UInt16) {
    var address = sockaddr_in6()
    var size = socklen_t(MemoryLayout<sockaddr_in6>.size)
    let host = unsafe withUnsafeMutableBytes(of: &address) { bytes -> String? in
        let address = unsafe bytes.assumingMemoryBound(to: sockaddr.self).baseAddress
        return unsafe getsockname(descriptor, address, &size) == 0 ? IPAddress(of: address).text : nil
    }
    guard let host else { throw .last("getsockname") }
    return (host, UInt16(bigEndian: address.sin6_port))  // at the same offset as sin_port
}

extension OperatorError {
    /// Another socket listens on the address.
    package static let addressInUse = OperatorError(
        "another program listens there", advice: "stop it, or choose another port")

    fileprivate static func notListening(_ descriptor: Int32) -> OperatorError {
        OperatorError(
            "descriptor \(descriptor) is no TCP socket that listens",
            advice: "pass only those of ListenStream= with an address and a port")
    }

    /// Explains why the system refused this call.
    fileprivate static func last(_ call: String) -> OperatorError {
        switch errno {
        case EADDRINUSE: addressInUse
        case EADDRNOTAVAIL: OperatorError("this machine has no such address")
        case EACCES, EPERM:
            OperatorError(
                "ports below 1024 need permission",
                advice: "choose another port, or allow these ports to everyone on this machine: "
                    + "sudo sysctl net.ipv4.ip_unprivileged_port_start=80")
        default: OperatorError(SystemError(code: errno, operation: call))
        }
    }
}

extension IPAddress {
    /// Reads the address in a `sockaddr`; the unspecified address if there is none.
    ///
    /// A listener for both families sees a client of IPv4 as `::ffff:192.0.2.1`, which is that address of IPv4.
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
