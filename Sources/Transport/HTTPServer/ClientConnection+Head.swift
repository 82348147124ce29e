import Basics
import CMicroHTTPD
private import Glibc
import HTTP

extension ClientConnection {
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
        var target = RequestTarget(raw: rawTarget, absolutePath: "")
        // The target is read also after another fault, because the form of a refusal depends on it.
        do throws(HTTPFault) {
            target = try self.target(for: method, host: validator.host)
            try method.checkServed()
        } catch { validator.refuse(error) }
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

extension ClientConnection {
    /// Takes the client that a trusted proxy names as the peer; returns a fault if the client has too many requests.
    ///
    /// A proxy that names no client has no limit. Requests whose client is unclear share one limit, or an invented
    /// header would be the way around the limit.
    func noteClient(_ headers: HeaderSection, _ peer: inout String) -> HTTPFault? {
        let client: IPAddress
        switch ForwardedClient(in: headers, trusting: core.limits.trustedProxies) {
        case .none: return nil
        case .unclear: client = address
        case .client(let address, let text):
            client = address.network
            peer = text
        }
        guard core.slots.takeRequest(of: client) else { return .tooManyAtOnce }
        self.client = client
        return nil
    }

    func forgetClient() {
        guard let client else { return }
        core.slots.releaseRequest(of: client)
        self.client = nil
    }
}
