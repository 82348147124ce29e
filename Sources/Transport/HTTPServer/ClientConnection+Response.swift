import CMicroHTTPD
import HTTP

extension ClientConnection {
    /// Gives a response to the library; after it the connection closes if `closing` is set or it has been used up.
    func queue(_ response: Response, closing: Bool = false) -> MHD_Result {
        let status = response.status.sendable
        let body = status.hasContent ? response.body : []
        guard let message = unsafe makeMessage(body, response.kept) else { return .NO }
        defer { unsafe MHD_destroy_response(message) }
        for field in response.headers.fields {
            // Refused where the text would break out of its line; then the field is missing and the response is sound.
            // Passed as arguments, each would be copied into an array first.
            unsafe field.name.withCString { name in
                unsafe field.value.withCString { value in _ = unsafe MHD_add_response_header(message, name, value) }
            }
        }
        let isTruncated = response.missing > 0
        if isTruncated {
            _ = unsafe CMicroHTTPD_allow_wrong_length(message)
            _ = unsafe MHD_add_response_header(
                message, "Content-Length", "\(response.body.count + response.missing)")
        }
        if closing || isLast || isTruncated { _ = unsafe MHD_add_response_header(message, "Connection", "close") }
        return unsafe CMicroHTTPD_queue(handle, UInt32(status.rawValue), message)
    }

    private func makeMessage(_ body: [UInt8], _ kept: KeptObject?) -> OpaquePointer? {
        if body.count > SharedBody.copyLimit { return unsafe SharedBody(body, kept).makeMessage() }
        return unsafe body.withUnsafeBytes { bytes in
            // The library copies the bytes, though the parameter has no const.
            unsafe MHD_create_response_from_buffer(
                bytes.count, UnsafeMutableRawPointer(mutating: bytes.baseAddress), .RESPMEM_MUST_COPY)
        }
    }
}

/// A long body that libmicrohttpd sends without a copy: all clients that read the same list share it.
private final class SharedBody {
    /// Bytes; a copy of fewer costs no more than to keep this object.
    static let copyLimit = 16384

    private let bytes: [UInt8]
    private let kept: KeptObject?

    init(_ bytes: [UInt8], _ kept: KeptObject?) {
        self.bytes = bytes
        self.kept = kept
    }

    /// A response of the library that keeps this object until it is sent or given up.
    func makeMessage() -> OpaquePointer? {
        // The array never changes, and this object keeps it, so its bytes stay where they are.
        let start = unsafe bytes.withUnsafeBytes { unsafe UnsafeMutableRawPointer(mutating: $0.baseAddress) }
        let reference = unsafe Unmanaged.passRetained(self)
        let message = unsafe MHD_create_response_from_buffer_with_free_callback_cls(
            bytes.count, start, releaseBody, reference.toOpaque())
        if unsafe message == nil { unsafe reference.release() }
        return unsafe message
    }
}

/// The response is sent or given up.
private func releaseBody(_ body: UnsafeMutableRawPointer?) {
    guard let body = unsafe body else { return }
    unsafe Unmanaged<SharedBody>.fromOpaque(body).release()
}

extension Response {
    /// Whether the content is sent from where it is, so that a client that reads slowly keeps its memory occupied.
    var isLong: Bool { status.sendable.hasContent && body.count > SharedBody.copyLimit }
}

extension Status {
    /// The status, if a final response can have it; a handler that made up another one has failed.
    var sendable: Status { (200...599).contains(rawValue) ? self : 500 }

    /// Whether a response of this status may have content (RFC 9110 section 6.4.1).
    var hasContent: Bool { rawValue != 204 && rawValue != 304 }
}
