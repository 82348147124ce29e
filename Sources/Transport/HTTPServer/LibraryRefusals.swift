import CMicroHTTPD
import HTTP

/// Replaces libmicrohttpd's function of this name, which the library calls to refuse a request with its own page.
///
/// There is no other way to choose the text. The library calls it for its refusals only, since 1.0 also for a redirect. The dynamic linker prefers the program's symbols, unless the library is
/// linked to prefer its own. The page is also kept for a refusal after a response, which nobody reads.
@_cdecl("MHD_queue_response")
package func queueRefusalOfLibrary(_ handle: OpaquePointer?, _ status: UInt32, _ page: OpaquePointer?) -> UInt32 {
    guard let handle = unsafe handle,
        let connection = unsafe object(ClientConnection.self, CMicroHTTPD_socket_context(handle)),
        case .replacePage = connection.apply(.refusedByLibrary)
    else { return unsafe CMicroHTTPD_queue(handle, status, page).rawValue }
    var response = connection.refusal(of: HTTPFault(ofLibrary: status))
    if status == 414 { response.status = 414 }
    // 1.0 refuses a chunk extension that fills its memory twice, and the second refusal keeps the first from being sent.
    if status == 413, connection.isChunked {
        _ = connection.respondEarly(response)
        return MHD_Result.NO.rawValue
    }
    return connection.queue(response, closing: true).rawValue
}

extension HTTPFault {
    /// Reads the meaning of a status that libmicrohttpd sends.
    fileprivate init(ofLibrary status: UInt32) {
        switch status {
        case 413: self = .bodyTooLarge
        case 414, 431: self = .tooManyFields
        case 501: self = .unknownMethod
        case 505: self = .version
        // 400, or 500 for a chunk size line that fills the memory, or a redirect to the target.
        default: self = .framing
        }
    }
}
