import CMicroHTTPD
import HTTP

extension ClientConnection {
    /// Gives a response to the library; after it the connection closes if `closing` is set or it has been used up.
    func queue(_ response: Response, closing: Bool = false) -> MHD_Result {
        let status = response.status.sendable
        guard let message = unsafe makeMessage(status.hasContent ? response.body : []) else { return .NO }
        defer { unsafe MHD_destroy_response(message) }
        guard unsafe add(response.headers, to: message) else { return .NO }
        if closing || isLast { _ = unsafe MHD_add_response_header(message, "Connection", "close") }
        guard unsafe CMicroHTTPD_queue(handle, UInt32(status.rawValue), message) == .YES else { return .NO }
        sent = SentContent(bytes: response.body, kept: response.kept)
        return .YES
    }

    /// A response of the library with content that it sends from where it is: ``sent`` keeps it.
    ///
    /// An array that is kept and never changed stays where it is.
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

/// The content of the response under way, which the library reads until the request is over.
///
/// All clients that read the same list share the bytes.
struct SentContent {
    let bytes: [UInt8]
    let kept: KeptObject?
}

extension Response {
    /// Bytes of content that a client may take as slowly as it likes, within the time of the request.
    private static let shortContent = 16384

    /// Whether a client that reads slowly keeps memory occupied that others could use.
    var isLong: Bool { status.sendable.hasContent && body.count > Self.shortContent }
}

extension Status {
    /// The status, if a final response can have it; a handler that made up another one has failed.
    var sendable: Status { (200...599).contains(rawValue) ? self : 500 }

    /// Whether a response of this status may have content (RFC 9110 section 6.4.1).
    var hasContent: Bool { rawValue != 204 && rawValue != 304 }
}
