import HTTP
import Testing

@testable import HTTPServer

private typealias State = RequestLifecycle.State
private typealias Event = RequestLifecycle.Event
private typealias Stage = RequestLifecycle.Stage
private typealias Action = RequestLifecycle.Action

/// The table of transitions, without a socket, a clock or a thread: what the tests with sockets cannot bring about.
@Suite("What may follow what in the life of a request")
struct RequestLifecycleTests {
    // MARK: a body that is refused

    @Test("A refusal with a body to come is written early, or closes the connection where it is too long for one write")
    func refusedBody() {
        var life = deciding(.length(1))
        #expect(life.takes(.decision(.respond(Response(401))), "respondEarly 401") == "discarding 1048576")
        #expect(life.phase == .discarding)
        life = deciding(.length(1))
        #expect(life.takes(.decision(.respond(long(401))), "send 401 closing") == "responding")
    }

    @Test(
        "After an early response a mebibyte is dropped, and the end of the body or one byte more closes the connection")
    func discarded() {
        var life = deciding(.chunked)
        _ = life.handle(.decision(.respond(Response(401))))
        #expect(life.takes(.bodyBytes(1 << 20, announced: .max), "none") == "discarding 0")
        #expect(life.takes(.bodyBytes(1, announced: 0), "close") == "discarding 0")
        #expect(life.takes(.called, "close") == "discarding 0")
        #expect(life.takes(.completed, "forget discarding 0") == "idle")
    }

    // MARK: a handler that waits

    @Test func `A stage has one deadline, however often its handler waits, and the next stage has its own`() {
        var life = suspended(.length(3))
        for number in 1...2 {
            _ = life.handle(.handlerFinished(deciding(later), generation: UInt64(number)))
            #expect(life.takes(.handlerPaused(terms(90)), "takeDecision") == "deciding length(3) until 50")
            let next = life.takes(.decision(later), "startHandler \(number + 1)")
            #expect(next == "handlerWaiting length(3) until 50")
            #expect(
                life.takes(.handlerPaused(terms(90, isFull: true)), "suspend") == "handlerSuspended length(3) until 50")
        }
        _ = life.handle(.handlerFinished(deciding(read(5)), generation: 3))
        _ = life.handle(.handlerPaused(terms()))
        _ = life.handle(.decision(read(5)))
        _ = life.handle(.called)
        #expect(life.takes(.decision(later), "startHandler 4") == "handlerWaiting none")
        #expect(life.takes(.handlerPaused(terms(90)), "suspend") == "handlerSuspended none until 90")
    }

    @Test func `A handler may not begin to wait where too many do, nor wait at all where the server stops`() {
        var life = running(.none)
        #expect(life.takes(.handlerPaused(terms(isFull: true)), "refuse overloaded") == "deciding none")
        life = running(.none)
        #expect(life.takes(.handlerPaused(terms(refusesToWait: true)), "refuse stopping") == "deciding none")
        #expect(life.takes(.decision(.respond(Response(503))), "send 503") == "responding")
    }

    @Test func `A deadline ends a suspension when it has come, and only a suspension`() {
        var life = suspended(.none)
        #expect(life.takes(.handlerExpired(now: 49, .timeout), "none") == "handlerSuspended none until 50")
        #expect(life.takes(.handlerExpired(now: 50, .timeout), "resume") == "handlerDecided none until 50")
        #expect(life.takes(.handlerExpired(now: .max, .timeout), "none") == "handlerDecided none until 50")
        #expect(life.takes(.handlerPaused(terms()), "refuse timeout") == "deciding none until 50")
        life = running(.none)
        #expect(life.takes(.handlerExpired(now: .max, .stopping), "none") == "handlerWaiting none")
    }

    @Test func `A client that resets the connection ends the suspension, and nothing is sent`() {
        var life = suspended(.none)
        #expect(life.takes(.peerDisconnected, "resume") == "handlerDecided none until 50")
        #expect(life.takes(.handlerPaused(terms()), "close") == "discarding 0")
        #expect(life.takes(.completed, "forget discarding 0") == "idle")
        life = running(.none)
        #expect(life.takes(.peerDisconnected, "none") == "handlerWaiting none")
    }

    // MARK: a stream

    @Test func `A stream is suspended when it has nothing, and resumed once when it continues`() {
        var life = streaming()
        #expect(life.phase == .stream)
        #expect(life.takes(.streamContinues, "none") == "streaming")
        for _ in 0..<2 {
            #expect(life.takes(.streamDrained, "suspend") == "streamSuspended")
            #expect(life.phase == .silentStream)
            #expect(life.takes(.handlerExpired(now: .max, .stopping), "none") == "streamSuspended")
            #expect(life.takes(.streamContinues, "resume") == "streaming")
            #expect(life.takes(.streamContinues, "none") == "streaming")
        }
        #expect(life.takes(.peerDisconnected, "none") == "streaming")
        _ = life.handle(.streamDrained)
        #expect(life.takes(.peerDisconnected, "resume") == "streaming")
        #expect(life.takes(.completed, "forget streaming") == "idle")
        #expect(life.takes(.streamContinues, "none") == "idle")
    }

    @Test func `A stream with a long body to come is sent, and closes the connection`() {
        #expect(streaming(.length(11)).state.text == "streaming")
    }

    // MARK: events that come late

    @Test func `A decision after an earlier wait is dropped, also while the next request waits`() {
        let late = Event.handlerFinished(deciding(later), generation: 1)
        var life = suspended(.none)
        _ = life.handle(.handlerExpired(now: 50, .timeout))
        #expect(life.takes(late, "dropDecision") == "handlerDecided none until 50")
        _ = life.handle(.handlerPaused(terms()))
        #expect(life.takes(late, "dropDecision") == "deciding none until 50")
        _ = life.handle(.decision(.respond(Response(503))))
        _ = life.handle(.completed)
        #expect(life.takes(late, "dropDecision") == "idle")
        for event in [Event.requestLine, .headAccepted(.none), .called, .decision(later)] { _ = life.handle(event) }
        #expect(life.takes(late, "dropDecision") == "handlerWaiting none")
        _ = life.handle(.handlerPaused(terms()))
        #expect(life.takes(late, "dropDecision") == "handlerSuspended none until 50")
        let own = Event.handlerFinished(deciding(later), generation: 2)
        #expect(life.takes(own, "resume") == "handlerDecided none until 50")
    }

    @Test func `A wait that ends at once needs no suspension`() {
        var life = running(.none)
        #expect(life.takes(.handlerFinished(deciding(later), generation: 1), "none") == "handlerDecided none")
        #expect(life.takes(.handlerPaused(terms(isFull: true)), "takeDecision") == "deciding none")
    }

    @Test func `A decision that no request waits for is dropped and changes nothing`() {
        for (name, life) in everyState() where !["handlerWaiting", "handlerSuspended"].contains(name) {
            var life = life
            let before = life.state.text
            #expect(life.takes(.handlerFinished(deciding(later), generation: 1), "dropDecision") == before)
        }
    }

    @Test func `A request that is broken off is forgotten with its last state`() {
        for (_, life) in everyState() {
            var life = life
            let before = life.state
            let action = life.handle(.completed)
            // A response that was sent leaves nothing.
            if case .responding = before, case .none = action { continue }
            guard case .forget(let state) = action else {
                Issue.record("\(before.text) is not forgotten")
                continue
            }
            #expect(state.text == before.text && life.state.text == "idle")
            #expect((state.stream != nil) == ["streaming", "streamSuspended"].contains(before.name))
            #expect((state.untakenDecision != nil) == (before.name == "handlerDecided"))
        }
    }

    // MARK: what cannot be

    @Test func `The library's page is replaced before a response, and kept after it`() {
        let replaced = ["opened", "idle", "readingHead", "complete", "refused", "readingBody", "drainingBody"]
        for (name, life) in everyState() {
            var life = life
            let before = life.state.text
            let isReplaced = replaced.contains(name)
            let next = life.takes(.refusedByLibrary, isReplaced ? "replacePage" : "none")
            #expect(next == (isReplaced ? "responding" : before))
        }
    }

    /// Which states each event of the loop is possible in; everywhere else it is rejected.
    private static let possible: [(event: Event, states: [String])] = [
        (.requestLine, ["opened", "idle"]),
        (.requestLineRefused(Response(400)), ["readingHead"]),
        (
            .called,
            [
                "readingHead", "complete", "refused", "handlerWaiting", "handlerDecided", "readingBody", "drainingBody",
                "responding", "streaming",
            ]
        ),
        (.bodyBytes(1, announced: 0), ["readingBody", "drainingBody", "discarding"]),
        (.bodyMisread, ["readingBody", "drainingBody"]),
        (.headAccepted(.none), ["readingHead"]),
        (.headRefused(Response(400), keepsConnection: true), ["readingHead"]),
        (.decision(.respond(Response(200))), ["deciding"]),
        (.handlerPaused(terms()), ["handlerWaiting", "handlerDecided"]),
        (.streamDrained, ["streaming"]),
    ]

    @Test(arguments: possible.indices)
    func `An impossible event changes nothing and closes the connection`(index: Int) {
        let (event, states) = Self.possible[index]
        for (name, life) in everyState() {
            var life = life
            let before = life.state.text
            let action = life.handle(event)
            if states.contains(name) {
                #expect(action.text != "close", "\(event) in \(before)")
            } else {
                #expect(action.text == "close" && life.state.text == before, "\(event) in \(before)")
            }
        }
    }

    @Test func `The states of these tests are all that there are`() {
        let names = everyState().map(\.name)
        #expect(names.count == 15 && Set(names).count == 15)
        for (name, life) in everyState() { #expect(life.state.name == name) }
    }
}

// MARK: lives at some point

private let later = Decision.wait { _ in {} }

private func deciding(_ decision: Decision) -> @Sendable () -> Decision { { decision } }

private func read(_ limit: Int) -> Decision { .readBody(limit: limit) { _ in .respond(Response(200)) } }

/// A response too long for one write.
private func long(_ status: Status) -> Response { Response(status, body: [UInt8](repeating: 0x61, count: 8193)) }

private func terms(
    _ deadline: UInt64 = 50, refusesToWait: Bool = false, isFull: Bool = false
) -> RequestLifecycle.WaitingTerms {
    RequestLifecycle.WaitingTerms(deadline: deadline, refusesToWait: refusesToWait, isFull: isFull)
}

private func life(_ events: Event...) -> RequestLifecycle {
    var life = RequestLifecycle(drainLimit: 10)
    for event in events { _ = life.handle(event) }
    return life
}

private func reading() -> RequestLifecycle { life(.requestLine) }

private func deciding(_ body: RequestLifecycle.ExpectedBody) -> RequestLifecycle {
    life(.requestLine, .headAccepted(body), .called)
}

private func running(_ body: RequestLifecycle.ExpectedBody) -> RequestLifecycle {
    var life = deciding(body)
    _ = life.handle(.decision(later))
    return life
}

private func suspended(_ body: RequestLifecycle.ExpectedBody) -> RequestLifecycle {
    var life = running(body)
    _ = life.handle(.handlerPaused(terms()))
    return life
}

private func streaming(_ body: RequestLifecycle.ExpectedBody = .none) -> RequestLifecycle {
    var response = Response(200)
    response.stream = ResponseStream(filler: [], onDrained: {}, onClosed: {})
    return deciding(body).after(.decision(.respond(response)))
}

/// A life in each of the states.
private func everyState() -> [(name: String, life: RequestLifecycle)] {
    [
        ("opened", life()),
        ("idle", life(.completed)),
        ("readingHead", reading()),
        ("complete", life(.requestLine, .headAccepted(.none))),
        ("refused", life(.requestLine, .headRefused(Response(400), keepsConnection: true))),
        ("deciding", deciding(.length(3))),
        ("handlerWaiting", running(.none)),
        ("handlerSuspended", suspended(.none)),
        ("handlerDecided", suspended(.none).after(.handlerFinished(deciding(later), generation: 1))),
        ("readingBody", deciding(.length(3)).after(.decision(read(5)))),
        ("drainingBody", deciding(.length(3)).after(.decision(.respond(Response(200))))),
        ("discarding", deciding(.length(3)).after(.decision(.respond(Response(401))))),
        ("responding", deciding(.none).after(.decision(.respond(Response(200))))),
        ("streaming", streaming()),
        ("streamSuspended", streaming().after(.streamDrained)),
    ]
}

// MARK: texts to compare

extension RequestLifecycle {
    /// Takes an event that must ask for this action; the state after it.
    fileprivate mutating func takes(
        _ event: Event, _ action: String, sourceLocation: SourceLocation = #_sourceLocation
    ) -> String {
        #expect(handle(event).text == action, sourceLocation: sourceLocation)
        return state.text
    }

    fileprivate func after(_ event: Event) -> RequestLifecycle {
        var copy = self
        _ = copy.handle(event)
        return copy
    }
}

extension RequestLifecycle.State {
    fileprivate var name: String { String(text.prefix { $0 != " " }) }

    fileprivate var text: String {
        switch self {
        case .opened: "opened"
        case .idle: "idle"
        case .readingHead: "readingHead"
        case .complete: "complete"
        case .refused(let response): "refused \(response.status.rawValue)"
        case .deciding(let stage): "deciding \(stage.text)"
        case .handlerWaiting(let stage): "handlerWaiting \(stage.text)"
        case .handlerSuspended(let body, let deadline): "handlerSuspended \(Stage(body: body, deadline: deadline).text)"
        case .handlerDecided(let stage, _): "handlerDecided \(stage.text)"
        case .readingBody(let limit, let received, _): "readingBody \(received) of \(limit)"
        case .drainingBody(let response, let left): "drainingBody \(response.status.rawValue) \(left)"
        case .discarding(let left): "discarding \(left)"
        case .responding: "responding"
        case .streaming: "streaming"
        case .streamSuspended: "streamSuspended"
        }
    }
}

extension RequestLifecycle.Stage {
    fileprivate var text: String { "\(body)" + (deadline.map { " until \($0)" } ?? "") }
}

extension RequestLifecycle.Action {
    fileprivate var text: String {
        switch self {
        case .none: "none"
        case .close: "close"
        case .checkHead: "checkHead"
        case .askHandler: "askHandler"
        case .deliverBody: "deliverBody"
        case .takeDecision: "takeDecision"
        case .refuse(let fault): "refuse \(fault)"
        case .startBody(let length): "startBody \(length)"
        case .keepBytes: "keepBytes"
        case .startHandler(_, let generation): "startHandler \(generation)"
        case .dropDecision: "dropDecision"
        case .resumeHandler: "resumeHandler"
        case .suspend: "suspend"
        case .resume: "resume"
        case .send(let response, let closing): "send \(response.status.rawValue)" + (closing ? " closing" : "")
        case .replacePage: "replacePage"
        case .respondEarly(let response): "respondEarly \(response.status.rawValue)"
        case .refuseEarly(let fault): "refuseEarly \(fault)"
        case .forget(let state): "forget \(state.text)"
        }
    }
}
