internal import CMicroHTTPD
internal import HTTP

/// Takes the place of libmicrohttpd's function of this name for libmicrohttpd itself, which calls it to refuse a request
/// with a page of its own: there is no other way to word what it refuses, or to tell a client's fault from a server's.
///
/// The dynamic linker prefers the program's symbols to a library's. Where a library is linked so that it prefers its own,
/// its pages are sent as they are. They are kept also for what is refused after an answer: no one reads that.
@_cdecl("MHD_queue_response")
package func queueRefusalOfLibrary(_ handle: OpaquePointer?, _ status: UInt32, _ page: OpaquePointer?) -> UInt32 {
    guard let handle = unsafe handle,
        let connection = unsafe object(ClientConnection.self, CMicroHTTPD_socket_context(handle)),
        let response = connection.refusal(inPlaceOf: status)
    else { return unsafe CMicroHTTPD_queue(handle, status, page).rawValue }
    return connection.queue(response, closing: true).rawValue
}

extension ClientConnection {
    /// What is said where libmicrohttpd refuses the request with this status.
    fileprivate func refusal(inPlaceOf status: UInt32) -> Response? {
        switch step {
        case .answered, .discarding: return nil
        case .idle, .head, .undecided, .ready, .waiting, .gathering, .draining: break
        }
        let fault: HTTPFault
        switch status {
        // It takes a chunk size line that fills its memory for a fault of the program.
        case 400, 500: fault = .framing
        case 413: fault = .bodyTooLarge
        case 414, 431: fault = .tooManyFields
        case 505: fault = .version
        default: return nil
        }
        var response = refuse(fault)
        if status != 500 { response.status = Status(rawValue: Int(status)) }
        return response
    }
}
