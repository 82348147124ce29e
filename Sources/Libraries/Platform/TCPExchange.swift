private import Glibc

/// One request and its answer over a new TCP connection.
package enum TCPExchange {
    /// Sends bytes over a connected socket, which stays open, and returns the answer up to the end of the connection.
    package typealias Layer = (_ bytes: [UInt8], _ socket: Int32) throws(SystemError) -> [UInt8]

    /// The longest answer.
    private static let longest = 1 << 20

    /// Sends these bytes and reads until the other side closes.
    ///
    /// - Parameters:
    ///   - bytes: the request; it should ask the other side to close.
    ///   - host: a literal IPv4 or IPv6 address, or `localhost` for 127.0.0.1.
    ///   - port: the port of the server.
    ///   - layer: carries the bytes over the socket, such as TLS; nil sends them as they are.
    /// - Returns: the answer.
    /// - Throws: the error of the system or the layer; EINVAL for a host that is no literal address.
    package static func send(
        _ bytes: [UInt8], host: String, port: UInt16, layer: Layer? = nil
    ) throws(SystemError) -> [UInt8] {
        let connection = try connect(to: host, port)
        if let layer { return try layer(bytes, connection.number) }
        try connection.writeAll(bytes)
        return try connection.readAll(limit: longest)
    }

    private static func connect(to host: String, _ port: UInt16) throws(SystemError) -> FileDescriptor {
        let operation = "connect to \(host.contains(":") ? "[\(host)]" : host):\(port)"
        guard let address = SocketAddress(host: host, port: port) else {
            throw SystemError(code: EINVAL, operation: operation)
        }
        let number = socket(address.family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard number >= 0 else { throw .last(operation) }
        let connection = FileDescriptor(takingOwnershipOf: number)
        limitWaiting(on: number)
        guard address.connect(number) == 0 else { throw .last(operation) }
        return connection
    }

    /// Limits each wait for a byte to 10 s, because the other side is near.
    private static func limitWaiting(on number: Int32) {
        var patience = timeval(tv_sec: 10, tv_usec: 0)
        let size = socklen_t(MemoryLayout<timeval>.size)
        _ = unsafe setsockopt(number, SOL_SOCKET, SO_RCVTIMEO, &patience, size)
        _ = unsafe setsockopt(number, SOL_SOCKET, SO_SNDTIMEO, &patience, size)
    }
}
