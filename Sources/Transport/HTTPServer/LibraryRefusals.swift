import CMicroHTTPD
import HTTP

/// Replaces libmicrohttpd's function of this name, which the library calls to refuse a request with its own page.
///
/// There is no other way to choose the text. The dynamic linker prefers the program's symbols, unless the library is
/// linked to prefer its own. The page is also kept for a refusal after a response, which nobody reads.
@_cdecl("MHD_queue_response")
package func queueRefusalOfLibrary(_ handle: OpaquePointer?, _ status: UInt32, _ page: OpaquePointer?) -> UInt32 {
    guard let handle = unsafe handle,
        let connection = unsafe object(ClientConnection.self, CMicroHTTPD_socket_context(handle)),
        let fault = HTTPFault(ofLibrary: status), case .replacePage = connection.apply(.refusedByLibrary)
    else { return unsafe CMicroHTTPD_queue(handle, status, page).rawValue }
    if fault == .tooManyFields { connection.noteLongestField() }
    var response = connection.refusal(of: fault)
    if status != 500 { response.status = Status(rawValue: Int(status)) }
    return connection.queue(response, closing: true).rawValue
}

extension ClientConnection {
    /// Makes a head of the longest field, which is all that is known of a head that the library refuses.
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
    fileprivate init?(ofLibrary status: UInt32) {
        switch status {
        // The library takes a chunk size line that fills its memory for a fault of the program.
        case 400, 500: self = .framing
        case 413: self = .bodyTooLarge
        case 414: self = .targetTooLong
        case 431: self = .tooManyFields
        case 505: self = .version
        default: return nil
        }
    }
}
