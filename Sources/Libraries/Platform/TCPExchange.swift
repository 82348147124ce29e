private import Glibc

/// One request and its answer over a TCP connection of its own.
package enum TCPExchange {
    /// Sends bytes over a connected socket, which stays open, and gives what came back until the other side closed.
    package typealias Layer = (_ bytes: [UInt8], _ socket: Int32) throws(SystemError) -> [UInt8]

    /// Sends these bytes and reads until the other side closes.
    ///
    /// - Parameters:
    ///   - bytes: what to say; it should ask the other side to close.
    ///   - host: a literal IPv4 or IPv6 address, or `localhost` for 127.0.0.1.
    ///   - port: where somebody listens.
    ///   - limit: the longest answer.
    ///   - layer: what carries the bytes over the socket, such as TLS; nothing sends them as they are.
    /// - Returns: the answer.
    /// - Throws: what the system or the layer said; EINVAL for a host that is no literal address.
    package static func send(
        _ bytes: [UInt8], host: String, port: UInt16, limit: Int = 1 << 20, layer: Layer? = nil
    ) throws(SystemError) -> [UInt8] {
        let connection = try connect(to: host, port)
        if let layer { return try layer(bytes, connection.number) }
        try connection.writeAll(bytes)
        return try connection.readAll(limit: limit)
    }

    private static func connect(to host: String, _ port: UInt16) throws(SystemError) -> FileDescriptor {
        let operation = "connect to \(host.contains(":") ? "[\(host)]" : host):\(port)"
        var version4 = sockaddr_in()
        version4.sin_family = sa_family_t(AF_INET)
        version4.sin_port = port.bigEndian
        if unsafe inet_pton(AF_INET, host == "localhost" ? "127.0.0.1" : host, &version4.sin_addr) == 1 {
            return try connect(AF_INET, version4, operation)
        }
        var version6 = sockaddr_in6()
        version6.sin6_family = sa_family_t(AF_INET6)
        version6.sin6_port = port.bigEndian
        guard unsafe inet_pton(AF_INET6, host, &version6.sin6_addr) == 1 else {
            throw SystemError(code: EINVAL, operation: operation)
        }
        return try connect(AF_INET6, version6, operation)
    }

    private static func connect<Address>(
        _ family: Int32, _ address: Address, _ operation: String
    ) throws(SystemError) -> FileDescriptor {
        let number = socket(family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard number >= 0 else { throw .last(operation) }
        let connection = FileDescriptor(takingOwnershipOf: number)
        limitWaiting(on: number)
        let code = unsafe withUnsafeBytes(of: address) { raw in
            unsafe Glibc.connect(number, raw.assumingMemoryBound(to: sockaddr.self).baseAddress, socklen_t(raw.count))
        }
        guard code == 0 else { throw .last(operation) }
        return connection
    }

    /// Nobody waits longer than this for a byte of a machine that is near.
    private static func limitWaiting(on number: Int32) {
        var patience = timeval(tv_sec: 10, tv_usec: 0)
        let size = socklen_t(MemoryLayout<timeval>.size)
        _ = unsafe setsockopt(number, SOL_SOCKET, SO_RCVTIMEO, &patience, size)
        _ = unsafe setsockopt(number, SOL_SOCKET, SO_SNDTIMEO, &patience, size)
    }
}
