private import Glibc

/// The answer of a server of this package to a request of its own program, on this machine.
package struct PlainReply: Sendable, Equatable {
    /// Sends bytes over a connected socket, which stays open, and returns the answer up to the end of the connection.
    package typealias Layer = (_ bytes: [UInt8], _ socket: Int32) throws(SystemError) -> [UInt8]

    /// The status; 0 if there was no status line.
    package let status: Int
    /// The body, without a newline at its end.
    package let body: String

    /// Sends a `GET` over a new connection, and reads until the server closes.
    ///
    /// - Parameters:
    ///   - target: path and query, ready for the request line.
    ///   - host: a literal IPv4 or IPv6 address, or `localhost` for 127.0.0.1.
    ///   - port: the port of the server.
    ///   - layer: carries the bytes over the socket, such as TLS; nil sends them as they are.
    /// - Returns: the answer of the server.
    /// - Throws: the error of the system or the layer; EINVAL for a host that is no literal address.
    package static func get(
        _ target: String, host: String, port: UInt16, layer: Layer? = nil
    ) throws(SystemError) -> PlainReply {
        let name = "\(host.contains(":") ? "[\(host)]" : host):\(port)"
        let request = Array("GET \(target) HTTP/1.1\r\nHost: \(name)\r\nConnection: close\r\n\r\n".utf8)
        guard let address = SocketAddress(host: host, port: port) else {
            throw SystemError(code: EINVAL, operation: "connect to \(name)")
        }
        let connection = try connect(to: address, name)
        if let layer { return PlainReply(try layer(request, connection.number)) }
        try connection.writeAll(request)
        return PlainReply(try connection.readAll(limit: 1 << 20))
    }

    package init(status: Int, body: String) {
        self.status = status
        self.body = body
    }

    /// Takes apart an answer that was read to its end.
    package init(_ bytes: [UInt8]) {
        let text = String(decoding: bytes, as: UTF8.self)
        let parts = text.split(separator: " ", maxSplits: 2)
        status = parts.first?.hasPrefix("HTTP/1.") == true ? parts.dropFirst().first.flatMap { Int($0) } ?? 0 : 0
        let end = bytes.indices.first { bytes[$0...].starts(with: Array("\r\n\r\n".utf8)) } ?? bytes.endIndex
        let content = String(decoding: bytes[end...].dropFirst(4), as: UTF8.self)
        body = content.hasSuffix("\n") ? String(content.dropLast()) : content
    }

    private static func connect(to address: SocketAddress, _ name: String) throws(SystemError) -> FileDescriptor {
        let number = socket(address.family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard number >= 0 else { throw .last("connect to \(name)") }
        let connection = FileDescriptor(takingOwnershipOf: number)
        // The server is near, so no wait for a byte takes longer than 10 s.
        var patience = timeval(tv_sec: 10, tv_usec: 0)
        let size = socklen_t(MemoryLayout<timeval>.size)
        _ = unsafe setsockopt(number, SOL_SOCKET, SO_RCVTIMEO, &patience, size)
        _ = unsafe setsockopt(number, SOL_SOCKET, SO_SNDTIMEO, &patience, size)
        guard address.connect(number) == 0 else { throw .last("connect to \(name)") }
        return connection
    }
}
