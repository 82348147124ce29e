import CMicroHTTPD
import HTTP
import Synchronization

/// One call of libmicrohttpd for a request.
@unsafe
struct AccessCall {
    let target: UnsafePointer<CChar>?
    let method: UnsafePointer<CChar>?
    let version: UnsafePointer<CChar>?
    let upload: UnsafePointer<CChar>?
    let size: UnsafeMutablePointer<Int>

    /// The bytes of the body that came with this call; the first and the last call bring none.
    var piece: UnsafeBufferPointer<UInt8> {
        let bytes = unsafe UnsafeRawBufferPointer(start: upload, count: upload == nil ? 0 : size.pointee)
        return unsafe bytes.bindMemory(to: UInt8.self)
    }
}

// These functions put events into the table and perform the actions that come out.
extension ClientConnection {
    private typealias Event = RequestLifecycle.Event
    private typealias Action = RequestLifecycle.Action

    /// Takes the head of a request, a piece of its body, or its end.
    func receive(_ call: AccessCall) -> MHD_Result {
        let piece = unsafe call.piece
        guard !piece.isEmpty else { return unsafe advance(apply(.called), call) }
        publishedPhase.received(piece.count)
        let isMisread = unsafe isChunked && isMisread(piece)
        let announced = isChunked ? unsafe announcedChunkSize(piece) : 0
        let event = isMisread ? Event.bodyMisread : .bodyBytes(piece.count, announced: announced)
        let result = unsafe advance(apply(event), call)
        unsafe call.size.pointee = 0
        return result
    }

    /// Performs an action and those that follow from it, until the loop must bring the next event.
    ///
    /// It is one function, so that an action, which may hold a whole response, is not copied on its way.
    func advance(_ first: consuming RequestLifecycle.Action, _ call: AccessCall?) -> MHD_Result {
        var action = first
        while true {
            switch consume action {
            case .none, .suspend, .resume, .replacePage, .forget: return .YES
            case .close: return .NO
            case .checkHead: action = unsafe apply(checkHead(call))
            case .askHandler:
                guard let head else { return .NO }
                action = apply(.decision(core.handler.decide(on: head)))
            case .deliverBody(let decide): action = deliverBody(to: decide)
            case .takeDecision(let decision): action = apply(.decision(decision))
            case .refuse(let fault): action = apply(.decision(.respond(refusal(of: fault))))
            case .startBody(let length):
                if length > 0 { body.reserveCapacity(length) }
                return .YES
            case .keepBytes:
                if let call = unsafe call { unsafe body.append(contentsOf: call.piece) }
                return .YES
            case .startHandler(let decide, let generation):
                startHandler(decide, generation)
                action = resumeHandler()
            case .runJob(let job):
                run(job)
                action = resumeHandler()
            case .resumeHandler: action = resumeHandler()
            case .send(let response, let closing): return queue(response, closing: closing)
            case .respondEarly(let response): return respondEarly(response)
            case .refuseEarly(let fault): return respondEarly(refusal(of: fault))
            }
        }
    }

    /// Takes an event of any thread, and returns the action that is left for this thread.
    ///
    /// It is inlined, so that only the row of the event is left of the table.
    @inline(__always)
    func apply(_ event: RequestLifecycle.Event) -> RequestLifecycle.Action {
        lifecycle.withLock { apply(event, to: &$0) }
    }

    /// Takes an event while the lock is held.
    @inline(__always)
    func apply(_ event: RequestLifecycle.Event, to lifecycle: inout RequestLifecycle) -> RequestLifecycle.Action {
        let action = lifecycle.handle(event)
        switch action {
        case .suspend: suspend()
        case .resume: resume()
        default: break
        }
        let phase = lifecycle.phase
        if phase != publishedPhase.current { publish(phase) }
        return action
    }

    private func deliverBody(to decide: @Sendable ([UInt8]) -> Decision) -> Action {
        let body = self.body
        self.body = []
        return apply(.decision(decide(body)))
    }

    /// Publishes the phase and its deadline for the enforcing thread; the events of other threads change no phase.
    private func publish(_ phase: RequestLifecycle.Phase) {
        switch phase {
        // An old connection is not closed here, where its next request may be on its way, but after its next answer.
        case .idle: publishedPhase.enter(phase, until: coarseNanoseconds() &+ core.times.idle)
        // The first header block is due some time after the connection was opened, which is published already.
        case .header: publishedPhase.enter(phase, until: requestStart &+ core.times.header)
        // The wait for a handler has a deadline of its own.
        case .handling: publishedPhase.enter(phase, until: .max)
        case .body:
            let now = coarseNanoseconds()
            publishedPhase.enterBody(at: now, until: min(now &+ core.times.body, requestEnd))
        case .response, .longResponse: publishedPhase.enter(phase, until: requestEnd)
        case .discarding:
            publishedPhase.enter(phase, until: min(coarseNanoseconds() &+ 2_000_000_000, requestEnd))
        }
    }
}
