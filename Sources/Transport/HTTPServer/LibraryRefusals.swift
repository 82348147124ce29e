import CMicroHTTPD
import HTTP

/// Replaces libmicrohttpd's function of this name, which the library calls to refuse a request with its own page.
///
/// There is no other way to choose the text. The library calls it for its refusals, and since 1.0 for a redirect. The
/// dynamic linker prefers the program's symbols, unless the library is linked to prefer its own. The page is also kept for
/// a refusal after a response, which nobody reads.
@_cdecl("MHD_queue_response")
package func queueRefusalOfLibrary(_ handle: OpaquePointer?, _ status: UInt32, _ page: OpaquePointer?) -> UInt32 {
    guard let handle = unsafe handle,
        let connection = unsafe object(ClientConnection.self, CMicroHTTPD_socket_context(handle)),
        case .replacePage = connection.apply(.refusedByLibrary)
    else { return unsafe CMicroHTTPD_queue(handle, status, page).rawValue }
    let fault = HTTPFault(ofLibrary: status)
    if fault == .tooManyFields { connection.noteLongestField() }
    let response = connection.refusal(of: fault)
    // 1.0 refuses a chunk extension that fills its memory twice, and the second refusal keeps the first from being sent.
    if status == 413, connection.isChunked {
        _ = connection.respondEarly(response)
        return MHD_Result.NO.rawValue
    }
    return connection.queue(response, closing: true).rawValue
}

extension ClientConnection {
    /// Makes a head without a target of the longest field, which is all that is known of a head that the library refuses.
    fileprivate func noteLongestField() {
        var size = 0
        guard head == nil, let target = unsafe rawTargetStart,
            let name = unsafe CMicroHTTPD_longest_field(handle, target, targetSize, &size)
        else { return }
        let bytes = unsafe Array(UnsafeRawBufferPointer(start: name, count: size))
        let line = HeaderSection.Line(name: 0..<size, value: size..<size)
        head = RequestHead(
            method: .get, target: RequestTarget(raw: "", absolutePath: ""),
            headers: HeaderSection(bytes: bytes, lines: [line]), identifier: identifier, peer: peer)
    }
}

extension HTTPFault {
    /// Reads the meaning of a status that libmicrohttpd sends.
    fileprivate init(ofLibrary status: UInt32) {
        switch status {
        case 413: self = .bodyTooLarge
        case 414: self = .targetTooLong
        case 431: self = .tooManyFields
        case 501: self = .unknownMethod
        case 505: self = .version
        // 400, or 500 for a chunk size line that fills the memory, or a redirect to the target.
        default: self = .framing
        }
    }
}
