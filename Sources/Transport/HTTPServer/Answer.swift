internal import CMicroHTTPD
internal import HTTP

extension ClientConnection {
    /// Queues an answer; after it the connection closes if `closing` is set or it has been used up.
    func queue(_ response: Response, closing: Bool = false) -> MHD_Result {
        step = .answered
        let status = response.status.sendable
        guard let answer = unsafe makeAnswer(status.hasContent ? response.body : [], response.kept) else {
            return .NO
        }
        defer { unsafe MHD_destroy_response(answer) }
        for field in response.headers.fields {
            // Refused where the text would break out of its line; then the field is missing and the answer is sound.
            // Passed as arguments, each would be copied into an array first.
            unsafe field.name.withCString { name in
                unsafe field.value.withCString { value in _ = unsafe MHD_add_response_header(answer, name, value) }
            }
        }
        let isCut = response.missing > 0
        if isCut {
            _ = unsafe CMicroHTTPD_allow_wrong_length(answer)
            _ = unsafe MHD_add_response_header(
                answer, "Content-Length", "\(response.body.count + response.missing)")
        }
        if closing || isLast || isCut { _ = unsafe MHD_add_response_header(answer, "Connection", "close") }
        let isLong = status.hasContent && response.body.count > LentBody.worthwhile
        clock.enter(isLong ? .longAnswer : .answer, until: requestEnd)
        return unsafe CMicroHTTPD_queue(handle, UInt32(status.rawValue), answer)
    }

    private func makeAnswer(_ body: [UInt8], _ kept: KeptObject?) -> OpaquePointer? {
        if body.count > LentBody.worthwhile { return unsafe LentBody(body, kept).makeAnswer() }
        return unsafe body.withUnsafeBytes { bytes in
            // The library copies: the pointer is only lent, though the parameter has no const.
            unsafe MHD_create_response_from_buffer(
                bytes.count, UnsafeMutableRawPointer(mutating: bytes.baseAddress), .RESPMEM_MUST_COPY)
        }
    }
}

/// A long body that libmicrohttpd sends from where it is: many who read the same list share it.
private final class LentBody {
    /// Above this length, in bytes: a copy of less costs no more than the keeping.
    static let worthwhile = 16384

    private let bytes: [UInt8]
    private let kept: KeptObject?

    init(_ bytes: [UInt8], _ kept: KeptObject?) {
        self.bytes = bytes
        self.kept = kept
    }

    /// An answer that keeps this object until it is sent.
    func makeAnswer() -> OpaquePointer? {
        // Nobody changes the array, and this object keeps it, so its bytes stay where they are.
        let start = unsafe bytes.withUnsafeBytes { unsafe UnsafeMutableRawPointer(mutating: $0.baseAddress) }
        let keeper = unsafe Unmanaged.passRetained(self)
        let answer = unsafe MHD_create_response_from_buffer_with_free_callback_cls(
            bytes.count, start, giveBack, keeper.toOpaque())
        if unsafe answer == nil { unsafe keeper.release() }
        return unsafe answer
    }
}

/// The answer is sent, or nobody wants it any more.
private func giveBack(_ body: UnsafeMutableRawPointer?) {
    guard let body = unsafe body else { return }
    unsafe Unmanaged<LentBody>.fromOpaque(body).release()
}

extension Status {
    /// The status, if it can stand over a final answer; a handler that made up another one has failed.
    var sendable: Status { (200...599).contains(rawValue) ? self : 500 }

    /// Whether an answer of this status may have content (RFC 9110 section 6.4.1).
    var hasContent: Bool { rawValue != 204 && rawValue != 304 }
}
