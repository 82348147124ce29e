import Basics
import CMicroHTTPD
import HTTP
import Synchronization

/// A connection, with its request under way, of which there is at most one.
///
/// - A lock guards ``lifecycle``. A thread that holds it may take libmicrohttpd's locks, to suspend or resume the
///   connection. So no thread may take this lock with the lock of ``ServerCore/connections`` held, which callbacks take
///   while libmicrohttpd may hold its own.
/// - Plain variables belong to the event loop of the connection; two belong to the thread that enforces deadlines.
/// - Every thread reads atomics. ``publishedPhase`` repeats the facts of the lifecycle that the enforcing thread
///   needs, because that thread looks at all connections with the lock of ``ServerCore/connections`` held.
///
/// The class is unchecked: the compiler cannot know that libmicrohttpd calls for one connection from one loop only.
@safe
final class ClientConnection: @unchecked Sendable {
    let core: ServerCore
    let handle: OpaquePointer
    let socket: Int32
    let peer: String
    let address: IPAddress
    /// Whether the peer is a proxy whose statements about its clients are trusted.
    let isTrusted: Bool
    let openedAt: UInt64
    private let number: UInt64

    let lifecycle: Mutex<RequestLifecycle>
    let publishedPhase: PublishedPhase
    let requests = Atomic<Int>(0)
    /// Whether the socket was shut down because a deadline has passed, the peer has disconnected or the server stops.
    let isShutDown = Atomic<Bool>(false)

    // These variables belong to the loop.
    var rawTarget = ""
    /// The bytes of the target as it came, also if it is not UTF-8.
    var targetSize = 0
    /// The place of the target in the library's buffer, until the head is there.
    var rawTargetStart: UnsafePointer<CChar>?
    var head: RequestHead?
    var body: [UInt8] = []
    /// The response that is being sent, whose content the library reads and all clients of a list share.
    ///
    /// Nil between requests, because the library reports the end of a request after its last use of the content.
    var sent: Response?
    var isChunked = false
    /// The address at which the library reads the body, or one a little before; 0 if the address is not certain.
    var bodyBuffer: UInt = 0
    private(set) var requestStart: UInt64
    /// Gives up the wait of the handler; other threads read it while they hold the lock and a handler is suspended.
    var cancelWait: Cancellation?
    /// The client whose request is under way, if a trusted proxy passed it on.
    var client: IPAddress?
    /// The identity that GnuTLS shows on this connection, if it is not the first one of the server.
    var identity: RenewedIdentity?

    // These variables belong to the enforcing thread.
    /// The stamp of the published phase at the time at which the peer was seen to have closed its half.
    var halfClosedStamp: UInt64 = 0
    var downloadPace: DownloadPace?

    init(core: ServerCore, handle: OpaquePointer) {
        self.core = core
        unsafe self.handle = handle
        socket = unsafe CMicroHTTPD_socket(handle)
        address = unsafe IPAddress(of: CMicroHTTPD_peer(handle))
        peer = address.text
        isTrusted = core.limits.isTrusted(address)
        openedAt = coarseNanoseconds()
        requestStart = openedAt
        number = UInt64(core.opened.wrappingAdd(1, ordering: .relaxed).newValue)
        lifecycle = Mutex(RequestLifecycle(drainLimit: core.limits.drainedBody))
        publishedPhase = PublishedPhase(until: openedAt &+ core.times.header)
    }

    /// Begins a request, of which the first line has arrived.
    func beginRequest(target: String, size: Int, hasZeroByte: Bool) {
        requests.store(requests.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
        rawTarget = target
        targetSize = size
        requestStart = coarseNanoseconds()
        _ = apply(.requestLine)
        // The request is refused here, before the library looks for arguments after the zero byte.
        if hasZeroByte { _ = unsafe advance(apply(.requestLineRefused(refusal(of: .target))), nil) }
    }

    /// Ends a request, whether it was answered or not.
    func endRequest() {
        if case .forget(let state) = apply(.completed) {
            if let decide = state.untakenDecision { _ = decide() }
            if let stream = state.stream { end(stream) }
        }
        head = nil
        cancelWait = nil
        forgetClient()
        if !body.isEmpty { body = [] }
        sent = nil
    }

    /// The identifier of the request under way: 16 hexadecimal digits, without a counter that loops share.
    var identifier: String {
        let count = UInt64(truncatingIfNeeded: requests.load(ordering: .relaxed))
        return (core.firstIdentifier &+ (number << 20) &+ count).hexadecimal
    }

    var requestEnd: UInt64 { requestStart &+ core.times.request }

    /// Whether the response under way is the last one of the connection.
    var isLast: Bool {
        requests.load(ordering: .relaxed) >= core.limits.requestsPerConnection
            || core.closesAfterAnswers.load(ordering: .relaxed)
            || requestStart &- openedAt >= core.times.connection
    }

    /// Returns the server's own response to a fault.
    func refusal(of fault: HTTPFault) -> Response { core.refusal(fault, head) }
}

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

// These functions give events to ``RequestLifecycle`` and perform the actions that it returns.
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
    /// All actions are in one function, so that an action, which may hold a whole response, is not copied on its way.
    func advance(_ first: consuming RequestLifecycle.Action, _ call: AccessCall?) -> MHD_Result {
        var action = first
        while true {
            switch consume action {
            case .none, .suspend, .resume, .dropDecision, .replacePage, .forget: return .YES
            case .close: return .NO
            case .checkHead: action = unsafe apply(checkHead(call))
            case .askHandler:
                guard let head else { return .NO }
                action = apply(.decision(core.handler.decide(on: head)))
            case .deliverBody(let decide): action = deliverBody(to: decide)
            case .takeDecision(let decide): action = apply(.decision(decide()))
            case .refuse(let fault): action = apply(.decision(.respond(refusal(of: fault))))
            case .startBody(let length):
                if length > 0 { body.reserveCapacity(length) }
                return .YES
            case .keepBytes:
                if let call = unsafe call { unsafe body.append(contentsOf: call.piece) }
                return .YES
            case .startHandler(let begin, let generation):
                cancelWait = begin { [self] in finishHandler($0, generation) }
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
    /// The function is inlined, so that only the row of the event is left of the table.
    @inline(__always)
    func apply(_ event: RequestLifecycle.Event) -> RequestLifecycle.Action {
        lifecycle.withLock { apply(event, to: &$0) }
    }

    /// Takes an event while the lock is held.
    @inline(__always)
    func apply(_ event: RequestLifecycle.Event, to lifecycle: inout RequestLifecycle) -> RequestLifecycle.Action {
        let action = lifecycle.handle(event)
        let phase = lifecycle.phase
        switch action {
        case .suspend: suspend(isCounted: phase == .handling)
        case .resume: resume(isCounted: phase == .handling)
        default: break
        }
        if phase != publishedPhase.current { publish(phase) }
        return action
    }

    private func deliverBody(to decide: @Sendable ([UInt8]) -> Decision) -> Action {
        let body = self.body
        self.body = []
        return apply(.decision(decide(body)))
    }

    /// Publishes the phase and its deadline for the enforcing thread; the events of other threads change only that of a
    /// stream.
    private func publish(_ phase: RequestLifecycle.Phase) {
        switch phase {
        // An old connection is not closed here, where its next request may be on its way, but after its next answer.
        case .idle: publishedPhase.enter(phase, until: coarseNanoseconds() &+ core.times.idle)
        // The first header block is due some time after the connection was opened, which is published already.
        case .header: publishedPhase.enter(phase, until: requestStart &+ core.times.header)
        // The wait for a handler has a deadline of its own, and a stream may last as long as its client reads.
        case .handling, .stream: publishedPhase.enter(phase, until: .max)
        case .body:
            let now = coarseNanoseconds()
            publishedPhase.enterBody(at: now, until: min(now &+ core.times.body, requestEnd))
        case .response, .longResponse: publishedPhase.enter(phase, until: requestEnd)
        case .discarding:
            publishedPhase.enter(phase, until: min(coarseNanoseconds() &+ 2_000_000_000, requestEnd))
        case .silentStream: publishedPhase.enter(phase, until: coarseNanoseconds() &+ core.times.silence)
        }
    }
}

// A handler that has to wait: the connection is suspended until the wait ends.
//
// The loop makes the response when it goes on, so the loops share that work, and each thread frees the memory that it
// allocated. A thread of the store only reports its result.
extension ClientConnection {
    /// Ends the wait, on any thread.
    private func finishHandler(_ decide: @escaping @Sendable () -> Decision, _ generation: UInt64) {
        if case .dropDecision(let decide) = apply(.handlerFinished(decide, generation: generation)) { _ = decide() }
    }

    /// Takes the decision of the handler, or suspends the connection until there is one.
    private func resumeHandler() -> RequestLifecycle.Action {
        // The lock is held, because a stop sets `refusesToWait` before it ends the suspensions that it finds.
        let action = lifecycle.withLock { apply(.handlerPaused(waitingTerms), to: &$0) }
        // A request that may not wait gives up the wait that it began. Where a deadline refuses it, that was done before.
        if case .refuse = action { cancelWait?() }
        return action
    }

    private var waitingTerms: RequestLifecycle.WaitingTerms {
        RequestLifecycle.WaitingTerms(
            deadline: min(coarseNanoseconds() &+ core.times.suspension, requestEnd),
            refusesToWait: core.refusesToWait.load(ordering: .sequentiallyConsistent),
            isFull: core.suspended.load(ordering: .relaxed) >= core.limits.suspensions)
    }

    /// Takes the connection out of the loop, and counts a request that waits; the lock of the lifecycle must be held.
    private func suspend(isCounted: Bool) {
        if isCounted { core.suspended.add(1, ordering: .relaxed) }
        unsafe MHD_suspend_connection(handle)
    }

    /// Returns the connection to the loop; the lock of the lifecycle must be held.
    private func resume(isCounted: Bool) {
        if isCounted { core.suspended.subtract(1, ordering: .relaxed) }
        unsafe MHD_resume_connection(handle)
    }

    /// Sends a fault in place of a handler's answer, after its deadline; returns false if no handler was waiting.
    func expireHandler(at now: UInt64, _ fault: HTTPFault) -> Bool { ends(.handlerExpired(now: now, fault)) }

    /// Ends the wait for a handler whose client has left; returns false if no handler was waiting.
    func abandonHandler() -> Bool { ends(.peerDisconnected) }

    private func ends(_ event: RequestLifecycle.Event) -> Bool {
        let cancel = lifecycle.withLock { lifecycle -> Cancellation? in
            guard case .resume = apply(event, to: &lifecycle) else { return nil }
            // The loop begins no other handler before it has had the lock.
            return cancelWait
        }
        cancel?()
        return cancel != nil
    }
}
