import CMicroHTTPD
import HTTP
private import Platform

extension ClientConnection {
    /// Gives a response to the library; the connection closes after it if `closing` is set or its limits are reached.
    func queue(_ response: consuming Response, closing: Bool = false) -> MHD_Result {
        let status = response.status.sendable
        let body = status.hasContent ? response.body : []
        guard let message = unsafe response.stream.map({ unsafe begin($0) }) ?? makeMessage(body) else { return .NO }
        defer { unsafe MHD_destroy_response(message) }
        guard unsafe response.headers.add(to: message) else { return .NO }
        if closing || isLast { _ = unsafe MHD_add_response_header(message, "Connection", "close") }
        guard unsafe CMicroHTTPD_queue(handle, UInt32(status.rawValue), message) == .YES else { return .NO }
        sent = response
        return .YES
    }

    /// Returns a response of the library whose content is sent from the array itself, which ``sent`` keeps unchanged.
    private func makeMessage(_ body: [UInt8]) -> OpaquePointer? {
        unsafe body.withUnsafeBytes { bytes in
            unsafe MHD_create_response_from_buffer(
                bytes.count, UnsafeMutableRawPointer(mutating: bytes.baseAddress), .RESPMEM_PERSISTENT)
        }
    }
}

extension Response {
    /// The size up to which a client may take content as slowly as it likes, within the time of the request.
    private static let shortContent = 16384

    /// Whether a client that reads slowly keeps memory occupied that others could use.
    var isLong: Bool { status.sendable.hasContent && body.count > Self.shortContent }
}

extension Status {
    /// The status, or 500 if a final response cannot have it, because then the handler has failed.
    var sendable: Status { (200...599).contains(rawValue) ? self : 500 }

    /// Whether a response of this status may have content (RFC 9110 section 6.4.1).
    var hasContent: Bool { rawValue != 204 && rawValue != 304 }
}

extension ClientConnection {
    /// Answers before the end of a body, and drops the rest of the body.
    ///
    /// libmicrohttpd takes no response in the middle of a body, and closes the connection at once after one before the
    /// body. Then the system would answer further bytes with a reset, and clients that send head and body in two
    /// writes would lose the response. So we write the response, and close only our half until the body ends, two
    /// seconds have passed, or a mebibyte has come. A client that left its earlier responses unread loses the
    /// connection at once.
    func respondEarly(_ response: Response) -> MHD_Result {
        body = []
        let isTooLong = response.body.count > RequestLifecycle.earlyResponseLimit
        let message = (isTooLong ? refusal(of: .bodyTooLarge) : response).closingMessage(to: head?.method ?? .get)
        unsafe CMicroHTTPD_forget_expectation(handle)
        guard write(message) else { return .NO }
        unsafe CMicroHTTPD_end_writing(handle)
        return .YES
    }

    /// Writes to the client, through TLS if the connection uses TLS; returns false if not everything could be written.
    ///
    /// The loop writes in pieces, since a TLS record holds 16 KiB, or less if the client wants less.
    private func write(_ message: [UInt8]) -> Bool {
        var rest = message[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { bytes in
                unsafe CMicroHTTPD_write(handle, bytes.baseAddress, bytes.count)
            }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }
}

extension Response {
    /// Returns the whole response as bytes, as the last one of its connection.
    fileprivate func closingMessage(to method: Method) -> [UInt8] {
        let status = self.status.sendable
        let reason = unsafe String(cString: MHD_get_reason_phrase_for(UInt32(status.rawValue)))
        var text = "HTTP/1.1 \(status.rawValue) \(reason)\r\n"
        text += "Date: \(HTTPDate.text(unixSeconds: SystemTime().wallMilliseconds / 1000))\r\n"
        text += "Connection: close\r\n"
        if status.hasContent { text += "Content-Length: \(body.count)\r\n" }
        return Array(text.utf8) + headers.bytes + [0x0D, 0x0A] + (status.hasContent && method != .head ? body : [])
    }
}
