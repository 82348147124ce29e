internal import CMicroHTTPD
internal import HTTP

/// One call of libmicrohttpd's for a request.
@unsafe
struct AccessCall {
    let target: UnsafePointer<CChar>?
    let method: UnsafePointer<CChar>?
    let version: UnsafePointer<CChar>?
    let upload: UnsafePointer<CChar>?
    let size: UnsafeMutablePointer<Int>

    /// The bytes of the body that came with this call; none with the first and the last call.
    var piece: UnsafeBufferPointer<UInt8> {
        let bytes = unsafe UnsafeRawBufferPointer(start: upload, count: upload == nil ? 0 : size.pointee)
        return unsafe bytes.bindMemory(to: UInt8.self)
    }
}

extension ClientConnection {
    /// Does what the request needs next.
    func proceed(_ call: AccessCall) -> MHD_Result {
        let piece = unsafe call.piece
        unsafe call.size.pointee = 0
        if !piece.isEmpty { clock.received(piece.count) }
        switch step {
        case .head: return unsafe takeHead(call)
        case .undecided: return decide()
        case .waiting: return goOn()
        case .ready, .gathering, .draining, .discarding: return unsafe piece.isEmpty ? atEnd() : take(piece)
        case .idle, .answered: return .YES
        }
    }

    /// A piece of the body is in.
    private func take(_ piece: UnsafeBufferPointer<UInt8>) -> MHD_Result {
        switch step {
        case .gathering(let limit, _):
            let left = limit - body.count
            guard piece.count <= left, unsafe !isAnnouncedLonger(piece, than: left) else {
                return interrupt(with: refuse(.bodyTooLarge))
            }
            unsafe body.append(contentsOf: piece)
        case .draining(let response, let left):
            guard piece.count <= left, unsafe !isAnnouncedLonger(piece, than: left) else {
                // One that is too long for one write cannot be sent in the middle of a body.
                return interrupt(with: response.body.count > 8192 ? refuse(.bodyTooLarge) : response)
            }
            step = .draining(response, left: left - piece.count)
        case .discarding(let left):
            guard piece.count <= left else { return .NO }
            step = .discarding(left: left - piece.count)
        case .idle, .head, .undecided, .ready, .waiting, .answered:
            break
        }
        return .YES
    }

    /// The request is in, whole.
    private func atEnd() -> MHD_Result {
        switch step {
        case .ready(let response), .draining(let response, _): return queue(response)
        case .gathering(_, let decide): return hand(over: decide)
        case .discarding: return .NO
        case .idle, .head, .undecided, .waiting, .answered: return .YES
        }
    }

    /// The handler has begun, or can go on, or has decided.
    ///
    /// libmicrohttpd then repeats the call in which it was suspended, so the body has still not begun.
    func goOn() -> MHD_Result {
        guard let decision = takeOrSuspend() else { return .YES }
        return follow(decision)
    }

    /// Asks the handler, with nothing but the head.
    func decide() -> MHD_Result {
        guard let head else { return .NO }
        return follow(core.handler.decide(on: head))
    }

    /// Does what the handler decided; what is refused with a body to come is answered at once, and the body never read.
    func follow(_ decision: Decision) -> MHD_Result {
        switch (decision, expectedBody) {
        case (.later(let decide), _):
            start(decide)
            return goOn()
        case (.respond(let response), .none): return queue(response)
        case (.readBody(_, let decide), .none): return hand(over: decide)
        case (.respond(let response), _):
            if response.status.rawValue >= 400 || isLonger(than: core.limits.drainedBody) {
                return refuseBody(with: response)
            }
            step = .draining(response, left: core.limits.drainedBody)
        case (.readBody(let limit, let decide), _):
            if isLonger(than: limit) { return refuseBody(with: refuse(.bodyTooLarge)) }
            if case .length(let length) = expectedBody { body.reserveCapacity(length) }
            step = .gathering(limit: limit, decide)
        }
        startBody()
        return .YES
    }

    private func isLonger(than limit: Int) -> Bool {
        if case .length(let length) = expectedBody { length > limit } else { false }
    }

    private func startBody() {
        let now = coarseNanoseconds()
        clock.enterBody(at: now, until: min(now &+ core.limits.bodySeconds.nanoseconds, requestEnd))
    }

    /// The answer of the server's own to a fault.
    func refuse(_ fault: HTTPFault) -> Response { core.refusal(fault, head) }
}
