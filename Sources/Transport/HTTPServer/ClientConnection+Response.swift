import CMicroHTTPD
import HTTP

extension ClientConnection {
    /// Gives a response to the library; the connection closes after it if `closing` is set or its limits are reached.
    func queue(_ response: Response, closing: Bool = false) -> MHD_Result {
        let status = response.status.sendable
        guard let message = unsafe makeMessage(status.hasContent ? response.body : []) else { return .NO }
        defer { unsafe MHD_destroy_response(message) }
        guard unsafe add(response.headers, to: message) else { return .NO }
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

    private func add(_ lines: FieldLines, to message: OpaquePointer) -> Bool {
        guard !lines.bytes.isEmpty else { return true }
        return unsafe lines.bytes.withUnsafeBytes { bytes in
            unsafe CMicroHTTPD_add_lines(message, bytes.baseAddress, bytes.count) == 1
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
