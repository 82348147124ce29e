import Basics
import CMicroHTTPD
import HTTP

extension ClientConnection {
    /// Checks the head that has arrived.
    func checkHead(_ call: AccessCall?) -> RequestLifecycle.Event {
        guard let call = unsafe call else { return .headRefused(refusal(of: .framing), keepsConnection: false) }
        var layout = unsafe HeadLayout(call, targetSize: targetSize, limit: core.limits.fields)
        unsafe withUnsafeMutablePointer(to: &layout) { layout in
            _ = unsafe MHD_get_connection_values_n(handle, .HEADER_KIND, fieldReceived, layout)
        }
        let headers = layout.headers
        var validator = HeadValidator(headers, limit: core.limits.fields)
        let size = unsafe CMicroHTTPD_head_size(handle)
        if size > core.limits.head { validator.refuse(targetSize > size / 2 ? .targetTooLong : .tooManyFields) }
        validator.close(version: unsafe text(call.version), isWhole: layout.isWhole(headSize: size))
        // After 100 Continue libmicrohttpd would take the next request for the body.
        if validator.hasExpectation, validator.body == .none { unsafe CMicroHTTPD_forget_expectation(handle) }
        isChunked = validator.body == .chunked
        bodyBuffer = validator.fault == nil ? layout.end : 0
        let method = Method(unsafe text(call.method))
        var peer = peer
        if isTrusted, let fault = noteClient(headers, &peer) { validator.refuse(fault) }
        var target = RequestTarget(raw: "", absolutePath: "")
        if validator.fault == nil {
            do throws(HTTPFault) {
                target = try self.target(for: method, host: validator.host)
                try method.checkServed()
            } catch { validator.refuse(error) }
        }
        head = RequestHead(method: method, target: target, headers: headers, identifier: identifier, peer: peer)
        guard let fault = validator.fault else { return .headAccepted(validator.body) }
        return .headRefused(refusal(of: fault), keepsConnection: fault.leavesFraming && validator.body == .none)
    }

    private func target(for method: Method, host: ArraySlice<UInt8>?) throws(HTTPFault) -> RequestTarget {
        guard rawTarget != "*" || method == .options else { throw .target }
        return try RequestTarget(parsing: rawTarget, host: host.map { String(decoding: $0, as: UTF8.self) })
    }
}

private func text(_ text: UnsafePointer<CChar>?) -> String {
    guard let text = unsafe text else { return "" }
    return unsafe String(cString: text)
}

extension Method {
    fileprivate func checkServed() throws(HTTPFault) {
        guard case .other(let name) = self else { return }
        throw name == "CONNECT" || name == "TRACE" ? .forbiddenMethod : .unknownMethod
    }
}

extension HTTPFault {
    /// Whether the end of the request is certain in spite of this fault.
    fileprivate var leavesFraming: Bool {
        switch self {
        case .target, .unknownMethod, .forbiddenMethod, .expectation, .bodyTooLarge, .timeout, .overloaded, .stopping,
            .tooManyAtOnce:
            true
        case .framing, .repeatedField, .host, .tooManyFields, .targetTooLong, .version:
            false
        }
    }
}
