import Basics
import CMicroHTTPD
import HTTP

extension ClientConnection {
    /// Checks the head that is in.
    func checkHead(_ call: AccessCall?) -> RequestLifecycle.Event {
        guard let call = unsafe call else { return .headRefused(refusal(of: .framing), keepsConnection: false) }
        var validator = HeadValidator(
            limit: core.limits.fields, layout: unsafe HeadLayout(call, targetSize: targetSize))
        unsafe withUnsafeMutablePointer(to: &validator) { validator in
            _ = unsafe MHD_get_connection_values_n(handle, .HEADER_KIND, fieldReceived, validator)
        }
        unsafe validator.close(version: call.version, headSize: CMicroHTTPD_head_size(handle))
        isChunked = validator.body == .chunked
        bodyBuffer = validator.fault == nil ? validator.end : 0
        var head = RequestHead(
            method: Method(unsafe text(call.method)), target: RequestTarget(raw: "", path: []),
            headers: HeaderFields(validator.fields), identifier: identifier, peer: peer)
        if isTrusted, let fault = noteClient(&head) { validator.refuse(fault) }
        var fault = validator.fault
        if fault == nil {
            do throws(HTTPFault) {
                head.target = try target(for: head.method, host: validator.host)
                try head.method.checkServed()
            } catch { fault = error }
        }
        self.head = head
        guard let fault else { return .headAccepted(validator.body) }
        return .headRefused(refusal(of: fault), keepsConnection: fault.leavesFraming && validator.body == .none)
    }

    private func target(for method: Method, host: String?) throws(HTTPFault) -> RequestTarget {
        let target = try rethrowing(as: { _ in HTTPFault.target }) { () throws(TargetError) in
            try RequestTarget(parsing: rawTarget, host: host)
        }
        guard rawTarget != "*" || method == .options else { throw .target }
        return target
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
        case .framing, .repeatedField, .host, .tooManyFields, .version:
            false
        }
    }
}
