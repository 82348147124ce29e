import Basics
import HTTP

/// The life of the requests of one connection: the one table that says which state follows which event.
///
/// It is a pure value: ``handle(_:)`` takes an event, changes the state and returns the action to perform. It knows no
/// socket, no clock and no thread. `docs/internals/how-it-works.md` shows the table as a diagram.
///
/// A connection keeps the value under a lock, because three kinds of threads report events:
///
/// - the event loop of the connection: all calls of libmicrohttpd, and decisions that the handler makes there;
/// - any thread that ends the wait of a handler: ``Event/handlerFinished(_:generation:)``, also of a handler whose
///   request was given up; and any thread that has something for a stream: ``Event/streamContinues``;
/// - the thread that enforces deadlines, and the one that stops the server: ``Event/handlerExpired(now:_:)``,
///   ``Event/peerDisconnected`` and ``Event/streamContinues``.
///
/// Events of other threads change the state only while a handler begins to wait or is suspended, or while a stream is suspended;
/// in every other state only the loop changes it. So the loop may perform an action after it has released the lock.
/// ``Action/suspend`` and ``Action/resume`` are performed with the lock held, so a connection is resumed only when it
/// is suspended, and once.
///
/// A transition moves a payload (a response, a closure) into the action, because a release may run foreign code. Only a
/// body that is broken off releases what was to follow, and that takes no lock of a connection.
struct RequestLifecycle: Sendable {
    enum ExpectedBody: Sendable, Equatable {
        case none
        case length(Int)
        case chunked
    }

    /// The input of a handler's decision: the head with a body to come, or the whole request.
    struct Stage: Sendable, Equatable {
        var body: ExpectedBody
        /// The time by which the handler must have decided, in nanoseconds; the first wait sets the time for all waits.
        var deadline: UInt64?
    }

    /// The end of the wait for a handler.
    enum Outcome: Sendable {
        /// The closure decides, on the loop.
        case decision(@Sendable () -> Decision)
        /// The server answers in the place of the handler.
        case fault(HTTPFault)
        /// The client has reset the connection.
        case disconnected
    }

    enum State: Sendable {
        /// A new connection, which owes its first header block.
        case opened
        /// The connection is between two requests.
        case idle
        /// The request line has arrived.
        case readingHead
        /// The head has arrived without a body. An answer now would end the connection; the library calls again at
        /// once.
        case complete
        /// The state is like `complete`, but the request is refused.
        case refused(Response)
        /// The handler is called, on the loop.
        case deciding(Stage)
        /// The handler begins to wait, on the loop.
        case handlerWaiting(Stage)
        /// The connection is suspended until the wait ends.
        case handlerSuspended(ExpectedBody, until: UInt64)
        /// The wait is over.
        case handlerDecided(Stage, Outcome)
        /// The body is kept for the handler, up to a limit in bytes.
        case readingBody(limit: Int, received: Int, @Sendable ([UInt8]) -> Decision)
        /// The body is dropped, at most `left` more bytes of it, and then the response is sent.
        case drainingBody(Response, left: Int)
        /// The response was written before the end of the body; at most `left` more bytes are dropped, and then the
        /// connection closes.
        case discarding(left: Int)
        case responding(isLong: Bool)
        /// The library sends what the stream has.
        case streaming(ResponseStream)
        /// The connection is suspended until the stream has something.
        case streamSuspended(ResponseStream)
    }

    enum Event: Sendable {
        case requestLine
        /// Only we see that the request line is malformed; libmicrohttpd has not read the rest of the head.
        case requestLineRefused(Response)
        /// libmicrohttpd has the head, or calls again after the head, or has the end of the body.
        case called
        /// A piece of the body has arrived; `announced` is the size of its chunk, or 0 if the size is unknown.
        case bodyBytes(Int, announced: Int)
        /// libmicrohttpd has misread the size line of a chunk.
        case bodyMisread
        case headAccepted(ExpectedBody)
        /// The connection is kept if the end of the request is certain and no body follows.
        case headRefused(Response, keepsConnection: Bool)
        case decision(Decision)
        /// The handler has begun to wait, or the connection was resumed.
        case handlerPaused(WaitingTerms)
        /// libmicrohttpd refuses the request with a page of its own.
        case refusedByLibrary
        /// The request is over, answered or not.
        case completed
        /// The wait is over. The generation is that of ``Action/startHandler(_:generation:)``.
        case handlerFinished(@Sendable () -> Decision, generation: UInt64)
        case handlerExpired(now: UInt64, HTTPFault)
        case peerDisconnected
        /// The loop has sent all that the stream had.
        case streamDrained
        /// The stream has something to send or is over.
        case streamContinues
    }

    /// The terms under which a handler may wait now.
    struct WaitingTerms: Sendable {
        /// The deadline for a handler that has not waited in this stage.
        let deadline: UInt64
        /// Whether requests that have to wait are refused, because the server stops.
        let refusesToWait: Bool
        /// Whether as many requests wait as are allowed.
        let isFull: Bool
    }

    enum Action: Sendable {
        /// Do nothing until the next event.
        case none
        case close
        /// Report ``Event/headAccepted(_:)`` or ``Event/headRefused(_:keepsConnection:)``.
        case checkHead
        /// Report the handler's decision on the head.
        case askHandler
        /// Report the closure's decision on the body.
        case deliverBody(@Sendable ([UInt8]) -> Decision)
        /// Report the closure's decision.
        case takeDecision(@Sendable () -> Decision)
        /// Call the closure, whose decision nobody waits for, so that it counts and logs a change that was made.
        case dropDecision(@Sendable () -> Decision)
        /// Report the server's response to this fault as the decision.
        case refuse(HTTPFault)
        /// Let the body come, with room for that many bytes.
        case startBody(reserving: Int)
        case keepBytes
        /// Let the handler begin to wait, and report ``Event/handlerPaused(_:)``.
        case startHandler(@Sendable (@escaping Decision.Resume) -> Cancellation, generation: UInt64)
        /// Report ``Event/handlerPaused(_:)``.
        case resumeHandler
        case suspend
        case resume
        /// Give the response to the library.
        case send(Response, closing: Bool)
        /// Send the server's response in the place of the library's page.
        case replacePage
        /// Write the response now, close our half of the connection and drop the bytes that still come.
        case respondEarly(Response)
        /// Write the server's response to this fault in the same way.
        case refuseEarly(HTTPFault)
        /// Forget the request; drop the decision, or end the stream, that its last state may still have.
        case forget(State)
    }

    /// The most bytes of a request that are dropped after an early response.
    static let discardLimit = 1 << 20
    /// The most bytes of content of an early response, which is written in one go.
    static let earlyResponseLimit = 8192

    private(set) var state = State.opened
    /// The number of the last wait; a decision after an earlier wait is dropped.
    private var generation: UInt64 = 0
    /// The most bytes of an unwanted body that are read to keep the connection.
    private let drainLimit: Int

    init(drainLimit: Int) { self.drainLimit = drainLimit }

    /// Takes an event; an impossible one changes nothing and closes the connection.
    @inline(__always)
    mutating func handle(_ event: Event) -> Action {
        switch event {
        case .requestLine: requestLine()
        case .requestLineRefused(let response): requestLineRefused(response)
        case .called: called()
        case .bodyBytes(let count, let announced): bodyBytes(count, announced)
        case .bodyMisread: bodyMisread()
        case .headAccepted(let body): headAccepted(body)
        case .headRefused(let response, let keepsConnection): headRefused(response, keepsConnection)
        case .decision(let decision): decided(decision)
        case .handlerPaused(let terms): handlerPaused(terms)
        case .refusedByLibrary: refusedByLibrary()
        case .completed: completed()
        case .handlerFinished(let decide, let generation): handlerFinished(decide, generation)
        case .handlerExpired(let now, let fault): handlerExpired(now, fault)
        case .peerDisconnected: peerDisconnected()
        case .streamDrained: streamDrained()
        case .streamContinues: streamContinues()
        }
    }

    @inline(__always)
    private mutating func enter(_ next: State, _ action: Action = .none) -> Action {
        state = next
        return action
    }
}

// The head and the body, whose events come from the loop.
extension RequestLifecycle {
    private mutating func requestLine() -> Action {
        switch state {
        case .opened, .idle: enter(.readingHead)
        default: .close
        }
    }

    private mutating func requestLineRefused(_ response: Response) -> Action {
        guard case .readingHead = state else { return .close }
        return enter(.discarding(left: Self.discardLimit), .respondEarly(response))
    }

    private mutating func called() -> Action {
        switch state {
        case .readingHead: .checkHead
        case .complete: enter(.deciding(Stage(body: .none)), .askHandler)
        case .refused(let response), .drainingBody(let response, _): send(response)
        case .handlerWaiting, .handlerDecided: .resumeHandler
        case .readingBody(_, _, let decide): enter(.deciding(Stage(body: .none)), .deliverBody(decide))
        case .responding, .streaming: .none
        case .opened, .idle, .deciding, .handlerSuspended, .discarding, .streamSuspended: .close
        }
    }

    private mutating func bodyBytes(_ count: Int, _ announced: Int) -> Action {
        switch state {
        case .readingBody(let limit, let received, let decide):
            guard max(count, announced) <= limit - received else {
                return enter(.discarding(left: Self.discardLimit), .refuseEarly(.bodyTooLarge))
            }
            return enter(.readingBody(limit: limit, received: received + count, decide), .keepBytes)
        case .drainingBody(let response, let left):
            guard max(count, announced) <= left else {
                return enter(.discarding(left: Self.discardLimit), .respondEarly(response))
            }
            return enter(.drainingBody(response, left: left - count))
        case .discarding(let left):
            return count <= left ? enter(.discarding(left: left - count)) : .close
        default: return .close
        }
    }

    private mutating func bodyMisread() -> Action {
        switch state {
        case .readingBody, .drainingBody: enter(.discarding(left: Self.discardLimit), .refuseEarly(.framing))
        default: .close
        }
    }

    private mutating func headAccepted(_ body: ExpectedBody) -> Action {
        guard case .readingHead = state else { return .close }
        return body == .none ? enter(.complete) : enter(.deciding(Stage(body: body)), .askHandler)
    }

    private mutating func headRefused(_ response: Response, _ keepsConnection: Bool) -> Action {
        guard case .readingHead = state else { return .close }
        return keepsConnection ? enter(.refused(response)) : refuseBody(response)
    }

    private mutating func refusedByLibrary() -> Action {
        switch state {
        case .opened, .idle, .readingHead, .complete, .refused, .readingBody, .drainingBody:
            enter(.responding(isLong: false), .replacePage)
        case .deciding, .handlerWaiting, .handlerSuspended, .handlerDecided, .discarding, .responding, .streaming,
            .streamSuspended:
            .none
        }
    }

    private mutating func completed() -> Action {
        // After a response, which is nearly always the case, nothing is left.
        if case .responding = state { return enter(.idle) }
        return enter(.idle, .forget(state))
    }

    private mutating func send(_ response: Response, closing: Bool = false) -> Action {
        let next = response.stream.map { State.streaming($0) } ?? .responding(isLong: response.isLong)
        return enter(next, .send(response, closing: closing))
    }

    /// Refuses a request whose body has not begun, also if the client waits for `100 Continue` or only says so.
    ///
    /// The library sends a response that is too long for one write, or a stream.
    private mutating func refuseBody(_ response: Response) -> Action {
        guard response.body.count <= Self.earlyResponseLimit, response.stream == nil else {
            return send(response, closing: true)
        }
        return enter(.discarding(left: Self.discardLimit), .respondEarly(response))
    }
}

// The decision of the handler.
extension RequestLifecycle {
    private mutating func decided(_ decision: Decision) -> Action {
        guard case .deciding(let stage) = state else { return .close }
        switch (decision, stage.body) {
        case (.wait(let begin), _):
            generation &+= 1
            return enter(.handlerWaiting(stage), .startHandler(begin, generation: generation))
        case (.respond(let response), .none): return send(response)
        case (.respond(let response), let body):
            // A request that is refused before its body is answered at once, and the body is never read.
            if response.status.rawValue >= 400 || body.length > drainLimit { return refuseBody(response) }
            return enter(.drainingBody(response, left: drainLimit), .startBody(reserving: 0))
        case (.readBody(_, let decide), .none): return enter(.deciding(Stage(body: .none)), .deliverBody(decide))
        case (.readBody(let limit, let decide), let body):
            if body.length > limit { return .refuse(.bodyTooLarge) }
            return enter(.readingBody(limit: limit, received: 0, decide), .startBody(reserving: body.length))
        }
    }

    private mutating func handlerPaused(_ terms: WaitingTerms) -> Action {
        switch state {
        case .handlerWaiting(let stage):
            if terms.refusesToWait { return enter(.deciding(stage), .refuse(.stopping)) }
            // A request that was allowed to wait may wait again.
            if stage.deadline == nil, terms.isFull { return enter(.deciding(stage), .refuse(.overloaded)) }
            return enter(.handlerSuspended(stage.body, until: stage.deadline ?? terms.deadline), .suspend)
        case .handlerDecided(let stage, .decision(let decide)): return enter(.deciding(stage), .takeDecision(decide))
        case .handlerDecided(let stage, .fault(let fault)): return enter(.deciding(stage), .refuse(fault))
        case .handlerDecided(_, .disconnected): return enter(.discarding(left: 0), .close)
        default: return .close
        }
    }
}

// Any thread may report these events. None is impossible: each may come just after the loop has given the request up.
extension RequestLifecycle {
    private mutating func handlerFinished(
        _ decide: @escaping @Sendable () -> Decision, _ generation: UInt64
    ) -> Action {
        guard generation == self.generation else { return .dropDecision(decide) }
        switch state {
        case .handlerWaiting(let stage): return enter(.handlerDecided(stage, .decision(decide)))
        case .handlerSuspended: return endSuspension(with: .decision(decide))
        default: return .dropDecision(decide)
        }
    }

    private mutating func handlerExpired(_ now: UInt64, _ fault: HTTPFault) -> Action {
        guard case .handlerSuspended(_, let deadline) = state, now >= deadline else { return .none }
        return endSuspension(with: .fault(fault))
    }

    private mutating func peerDisconnected() -> Action {
        if case .streamSuspended = state { return streamContinues() }
        return endSuspension(with: .disconnected)
    }

    private mutating func streamContinues() -> Action {
        guard case .streamSuspended(let stream) = state else { return .none }
        return enter(.streaming(stream), .resume)
    }

    private mutating func endSuspension(with outcome: Outcome) -> Action {
        guard case .handlerSuspended(let body, let deadline) = state else { return .none }
        return enter(.handlerDecided(Stage(body: body, deadline: deadline), outcome), .resume)
    }
}

extension RequestLifecycle {
    /// Suspends the connection of a stream that has nothing to send.
    private mutating func streamDrained() -> Action {
        guard case .streaming(let stream) = state else { return .close }
        return enter(.streamSuspended(stream), .suspend)
    }

    /// The part of a request to which a deadline applies.
    enum Phase: UInt8, Sendable {
        case idle, header, body, handling, response, longResponse, discarding, stream, silentStream
    }

    var phase: Phase {
        switch state {
        case .opened, .readingHead: .header
        case .idle: .idle
        case .complete, .refused, .deciding, .handlerWaiting, .handlerSuspended, .handlerDecided: .handling
        case .readingBody, .drainingBody: .body
        case .discarding: .discarding
        case .responding(let isLong): isLong ? .longResponse : .response
        case .streaming: .stream
        case .streamSuspended: .silentStream
        }
    }
}

extension RequestLifecycle.State {
    var stream: ResponseStream? {
        switch self {
        case .streaming(let stream), .streamSuspended(let stream): stream
        default: nil
        }
    }

    /// A decision that the loop would have taken next; see ``RequestLifecycle/Action/dropDecision(_:)``.
    var untakenDecision: (@Sendable () -> Decision)? {
        if case .handlerDecided(_, .decision(let decide)) = self { decide } else { nil }
    }
}

extension RequestLifecycle.ExpectedBody {
    /// The announced length in bytes; 0 if there is none.
    var length: Int { if case .length(let length) = self { length } else { 0 } }
}
