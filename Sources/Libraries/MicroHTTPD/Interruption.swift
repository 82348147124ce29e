internal import CMicroHTTPD
private import Glibc
internal import HTTP

extension ClientConnection {
    /// Answers in the middle of a body, which libmicrohttpd cannot: writes the answer by hand and drops the rest.
    ///
    /// Nothing else is on its way to the client then. The connection stays half open for a moment, because a close
    /// with unread bytes would take the answer back from the client.
    func interrupt(with response: Response) -> MHD_Result {
        body = []
        let bytes = response.closingMessage
        _ = unsafe bytes.withUnsafeBytes { bytes in
            unsafe send(socket, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
        }
        _ = shutdown(socket, Int32(SHUT_WR))
        step = .discarding(left: 1 << 20)
        clock.enter(.body, until: coarseNanoseconds() &+ (2.0).nanoseconds)
        return .YES
    }
}

extension Response {
    /// The whole answer as bytes, the last one of its connection.
    fileprivate var closingMessage: [UInt8] {
        let status = self.status.sendable.rawValue
        var head = "HTTP/1.1 \(status) \(unsafe String(cString: MHD_get_reason_phrase_for(UInt32(status))))\r\n"
        for field in headers.fields where field.isSound { head += "\(field.name): \(field.value)\r\n" }
        head += "Connection: close\r\nContent-Length: \(body.count)\r\n\r\n"
        return Array(head.utf8) + body
    }
}

extension HeaderFields.Field {
    /// Whether the field cannot break out of its line.
    fileprivate var isSound: Bool { !(name + value).utf8.contains { $0 == 0x0A || $0 == 0x0D } }
}
