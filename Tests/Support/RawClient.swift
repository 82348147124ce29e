import Glibc
import HTTP

/// A client that sends exactly the bytes it is given, also those that no HTTP library would send.
///
/// A client is for one thread, and every call has the time-out.
package final class RawClient {
    /// What went wrong on the way.
    package enum Failure: Error, Equatable {
        /// A call of the system failed.
        case system(String, Int32)
        /// Nothing came in time.
        case timeout
        /// The connection ended in the middle of an answer.
        case truncated([UInt8])
        /// What came is no answer.
        case malformed([UInt8])
    }

    private let descriptor: Int32
    private let timeout: Double
    /// The bytes that came and were not handed out yet.
    private var buffer: [UInt8] = []

    /// Connects to a port of the loopback, with a small receive buffer if unread bytes have to stay with the server.
    package init(
        port: UInt16, overIPv6: Bool = false, timeout: Double = 60, receiveBuffer: Int32? = nil
    ) throws(Failure) {
        self.timeout = timeout
        descriptor = socket(overIPv6 ? AF_INET6 : AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw .system("socket", errno) }
        let (seconds, fraction) = (timeout.rounded(.down), timeout.truncatingRemainder(dividingBy: 1))
        var limit = timeval(tv_sec: Int(seconds), tv_usec: Int(fraction * 1_000_000))
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        if var size = receiveBuffer {
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        }
        // `deinit` closes the socket, also when this throws, because every field is set.
        let code = overIPv6 ? connect6(port) : withLoopback(port) { connect(descriptor, $0, $1) }
        guard code == 0 else { throw .system("connect", errno) }
    }

    private func connect6(_ port: UInt16) -> Int32 {
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_port = port.bigEndian
        address.sin6_addr = in6addr_loopback
        return withUnsafeBytes(of: &address) { bytes in
            connect(descriptor, bytes.assumingMemoryBound(to: sockaddr.self).baseAddress, socklen_t(bytes.count))
        }
    }

    deinit { _ = Glibc.close(descriptor) }

    /// Sends these bytes, all of them.
    package func send(_ bytes: some Sequence<UInt8>) throws(Failure) {
        var rest = Array(bytes)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count >= 0 else { throw errno == EAGAIN ? .timeout : .system("send", errno) }
            rest = rest.dropFirst(count)
        }
    }

    /// Sends the bytes of this text.
    package func send(_ text: String) throws(Failure) { try send(text.utf8) }

    /// Sends the bytes of a request, and reads its answer.
    package func ask(_ request: String) throws(Failure) -> RawResponse? {
        try send(request)
        return try response()
    }

    /// Asks for a target of the host `h`.
    package func get(_ target: String) throws(Failure) -> RawResponse? {
        try ask("GET \(target) HTTP/1.1\r\nHost: h\r\n\r\n")
    }

    /// Says that nothing more will be sent.
    package func finishSending() { _ = shutdown(descriptor, Int32(SHUT_WR)) }

    /// Makes the end of this client a reset in place of an orderly close.
    package func resetWhenClosed() {
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    }

    /// Reads some bytes, drops them, and returns how many they were, which is 0 at the end of the connection.
    package func skip(atMost count: Int) throws(Failure) -> Int {
        if buffer.isEmpty { _ = try more(count) }
        let skipped = min(count, buffer.count)
        buffer.removeFirst(skipped)
        return skipped
    }

    /// Reads and drops this many bytes.
    package func skipAll(_ count: Int) throws(Failure) {
        var left = count
        while left > 0 {
            let skipped = try skip(atMost: min(left, 65536))
            guard skipped > 0 else { throw .truncated([]) }
            left -= skipped
        }
    }

    /// Reads only the head of an answer, and little more, so that the rest stays with the server.
    package func head(atMost count: Int = 512) throws(Failure) -> RawResponse? {
        let separator: [UInt8] = [13, 10, 13, 10]
        while true {
            if let end = buffer.firstRange(of: separator) {
                guard let response = RawResponse(head: buffer[..<end.lowerBound]) else { throw .malformed(buffer) }
                buffer.removeFirst(end.upperBound)
                return response
            }
            if try !more(count) {
                if buffer.isEmpty { return nil }
                throw .truncated(buffer)
            }
        }
    }

    /// Reads one answer, also `100 Continue`, and returns nil if the connection ended before the first byte.
    package func response(to method: Method = .get) throws(Failure) -> RawResponse? {
        guard var response = try head(atMost: 65536) else { return nil }
        if method != .head { response.body = try body(of: response) }
        return response
    }

    private func body(of response: RawResponse) throws(Failure) -> [UInt8] {
        if response.status < 200 || response.status == 204 || response.status == 304 { return [] }
        guard let length = response.headers["Content-Length"].flatMap({ Int($0) }) else { return try rest() }
        while buffer.count < length {
            if try !more() { throw .truncated(buffer) }
        }
        defer { buffer.removeFirst(length) }
        return Array(buffer[..<length])
    }

    /// Reads until these bytes have come, and returns everything up to their end.
    package func read(to end: String) throws(Failure) -> String {
        while true {
            if let range = buffer.firstRange(of: Array(end.utf8)) {
                defer { buffer.removeFirst(range.upperBound) }
                return String(decoding: buffer[..<range.upperBound], as: UTF8.self)
            }
            if try !more() { throw .truncated(buffer) }
        }
    }

    /// Reads everything until the connection ends.
    package func rest() throws(Failure) -> [UInt8] {
        while try more() {}
        defer { buffer = [] }
        return buffer
    }

    /// Whether an answer, whose bytes stay unread, begins to come in time.
    package var isAnswered: Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        var byte: UInt8 = 0
        return poll(&entry, 1, Int32(timeout * 1000)) == 1 && recv(descriptor, &byte, 1, Int32(MSG_PEEK)) == 1
    }

    /// Whether the server ends the connection within the time-out, without another byte.
    package var isClosedByServer: Bool {
        do throws(Failure) { return try rest().isEmpty } catch { return false }
    }

    /// Waits for more bytes, and returns false at the end of the connection.
    private func more(_ most: Int = 65536) throws(Failure) -> Bool {
        var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        let count = poll(&ready, 1, Int32(timeout * 1000))
        guard count > 0 else { throw count == 0 ? .timeout : .system("poll", errno) }
        var piece = [UInt8](repeating: 0, count: most)
        let size = piece.withUnsafeMutableBytes { recv(descriptor, $0.baseAddress, $0.count, 0) }
        // A reset is an end as well: the server closed the connection and left bytes unread.
        guard size > 0 else { return false }
        buffer.append(contentsOf: piece[..<size])
        return true
    }
}

/// An answer as it came over the wire.
package struct RawResponse: Equatable {
    /// The three digits.
    package let status: Int
    /// The field lines.
    package let headers: HeaderFields
    /// The content.
    package internal(set) var body: [UInt8] = []

    /// The content as text.
    package var text: String { String(decoding: body, as: UTF8.self) }

    /// Reads the lines before the empty line, and fails if the first is no status line.
    init?(head: some Collection<UInt8>) {
        let lines = head.split(separator: 10).map { line in
            String(decoding: line.last == 13 ? line.dropLast() : line, as: UTF8.self)
        }
        let first = (lines.first ?? "").split(separator: " ", maxSplits: 2)
        guard first.count >= 2, first[0].hasPrefix("HTTP/1."), let status = Int(first[1]) else { return nil }
        self.status = status
        headers = HeaderFields(
            lines.dropFirst().map { line in
                let parts = line.split(separator: ":", maxSplits: 1)
                let value = parts.count > 1 ? parts[1].drop { $0 == " " } : ""
                return HeaderSection.Field(name: String(parts.first ?? ""), value: String(value))
            })
    }
}
