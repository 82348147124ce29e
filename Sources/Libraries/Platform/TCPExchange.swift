private import Glibc

/// One request and its answer over a TCP connection of its own.
public enum TCPExchange {
    /// Sends these bytes and reads until the other side closes.
    ///
    /// - Parameters:
    ///   - bytes: what to say; it should ask the other side to close.
    ///   - host: a literal IPv4 address, or `localhost` for 127.0.0.1.
    ///   - port: where somebody listens.
    ///   - limit: the longest answer.
    /// - Returns: the answer.
    /// - Throws: what the system said; EINVAL for a host that is no literal address.
    public static func send(
        _ bytes: [UInt8], host: String, port: UInt16, limit: Int = 1 << 20
    ) throws(SystemError) -> [UInt8] {
        let operation = "connect to \(host):\(port)"
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        guard unsafe inet_pton(AF_INET, host == "localhost" ? "127.0.0.1" : host, &address.sin_addr) == 1 else {
            throw SystemError(code: EINVAL, operation: operation)
        }
        let number = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard number >= 0 else { throw .last(operation) }
        let connection = FileDescriptor(takingOwnershipOf: number)
        limitWaiting(on: number)
        let length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let code = unsafe withUnsafeBytes(of: &address) { raw in
            unsafe connect(number, raw.assumingMemoryBound(to: sockaddr.self).baseAddress, length)
        }
        guard code == 0 else { throw .last(operation) }
        try connection.writeAll(bytes)
        return try connection.readAll(limit: limit)
    }

    /// Nobody waits longer than this for a byte of a machine that is near.
    private static func limitWaiting(on number: Int32) {
        var patience = timeval(tv_sec: 10, tv_usec: 0)
        let size = socklen_t(MemoryLayout<timeval>.size)
        _ = unsafe setsockopt(number, SOL_SOCKET, SO_RCVTIMEO, &patience, size)
        _ = unsafe setsockopt(number, SOL_SOCKET, SO_SNDTIMEO, &patience, size)
    }
}
