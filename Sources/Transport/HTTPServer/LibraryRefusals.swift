import CMicroHTTPD
import HTTP

/// Takes the place of libmicrohttpd's function of this name for libmicrohttpd itself, which calls it to refuse a
/// request with a page of its own: there is no other way to choose the text, or to tell a client's fault from a
/// server's.
///
/// The dynamic linker prefers the program's symbols to a library's. Where a library is linked so that it prefers its
/// own, its pages are sent as they are. They are kept also for what is refused after a response: no one reads that.
@_cdecl("MHD_queue_response")
package func queueRefusalOfLibrary(_ handle: OpaquePointer?, _ status: UInt32, _ page: OpaquePointer?) -> UInt32 {
    guard let handle = unsafe handle,
        let connection = unsafe object(ClientConnection.self, CMicroHTTPD_socket_context(handle)),
        let fault = HTTPFault(ofLibrary: status), case .replacePage = connection.apply(.refusedByLibrary)
    else { return unsafe CMicroHTTPD_queue(handle, status, page).rawValue }
    var response = connection.refusal(of: fault)
    if status != 500 { response.status = Status(rawValue: Int(status)) }
    return connection.queue(response, closing: true).rawValue
}

extension HTTPFault {
    /// What libmicrohttpd means by this status.
    fileprivate init?(ofLibrary status: UInt32) {
        switch status {
        // It takes a chunk size line that fills its memory for a fault of the program.
        case 400, 500: self = .framing
        case 413: self = .bodyTooLarge
        case 414, 431: self = .tooManyFields
        case 505: self = .version
        default: return nil
        }
    }
}
