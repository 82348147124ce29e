internal import CMicroHTTPD
internal import HTTP
internal import Synchronization

extension ClientConnection {
    /// Judges the head that is in, and lets the request go on or refuses it.
    func takeHead(_ call: AccessCall) -> MHD_Result {
        let lines = unsafe HeadLines(call, targetSize: targetSize)
        var intake = HeadIntake(limit: core.limits.fields, lines: lines)
        unsafe withUnsafeMutablePointer(to: &intake) { intake in
            _ = unsafe MHD_get_connection_values_n(handle, .HEADER_KIND, takeField, intake)
        }
        unsafe intake.close(version: call.version, headSize: CMicroHTTPD_head_size(handle))
        expectedBody = intake.body
        bodyBuffer = intake.fault == nil ? intake.end : 0
        var head = RequestHead(
            method: Method(unsafe text(call.method)), target: RequestTarget(raw: "", path: []),
            headers: HeaderFields(intake.fields), identifier: identifier, peer: peer)
        clock.enter(.handling, until: .max)
        if isTrusted, let fault = takeClient(&head) { intake.refuse(fault) }
        if let fault = intake.fault { return refuseNow(fault, head) }
        do throws(HTTPFault) {
            head.target = try target(for: head.method, host: intake.host)
            try head.method.checkServed()
        } catch {
            return refuseNow(error, head)
        }
        self.head = head
        if case .none = expectedBody {
            // An answer now would end the connection; the next call comes at once.
            step = .undecided
            return .YES
        }
        return decide()
    }

    /// Refuses a target with a zero byte, before the library looks for arguments after it.
    func refuseCutTarget() {
        head = nil
        _ = interrupt(with: refuse(.target))
    }

    private func target(for method: Method, host: String?) throws(HTTPFault) -> RequestTarget {
        do throws(TargetError) {
            let target = try RequestTarget(parsing: rawTarget, host: host)
            guard rawTarget != "*" || method == .options else { throw TargetError.form }
            return target
        } catch {
            throw .target
        }
    }

    /// Refuses before anything of a body is read; where the framing is sound and no body follows, the connection stays.
    private func refuseNow(_ fault: HTTPFault, _ head: RequestHead) -> MHD_Result {
        self.head = head
        let response = core.refusal(fault, head)
        guard fault.leavesFraming else { return refuseBody(with: response) }
        guard case .none = expectedBody else { return refuseBody(with: response) }
        step = .ready(response)
        return .YES
    }

    /// Starts what has to wait, on this thread; it may be done when this returns.
    func start(_ decide: @escaping @Sendable () async -> Decision) {
        step = .waiting
        let number = meeting.withLock { $0.begin() }
        Task.immediate(executorPreference: self) { [self] in finish(await decide(), number) }
    }

    /// Hands the body to the handler.
    func hand(over decide: @Sendable ([UInt8]) -> Decision) -> MHD_Result {
        expectedBody = .none
        waitEnd = nil
        let body = self.body
        self.body = []
        return follow(decide(body))
    }

    /// The handler is done.
    private func finish(_ decision: Decision, _ number: UInt64) {
        meeting.withLock { meeting in
            if meeting.finish(decision, number: number) { resume() }
        }
    }

    /// The decision, or nothing, and the connection is suspended until the handler can go on.
    func takeOrSuspend() -> Decision? {
        while true {
            switch meeting.withLock({ next(&$0) }) {
            case .decision(let decision): return decision
            case .job(let job): run(job)
            case .pause: return nil
            }
        }
    }

    private enum Next {
        case decision(Decision)
        case job(UnownedJob)
        case pause
    }

    private func next(_ meeting: inout Meeting) -> Next {
        if let job = meeting.takeJob() { return .job(job) }
        if let decision = meeting.take() { return .decision(decision) }
        if let fault = faultOfWaiting {
            meeting.abandon()
            return .decision(.respond(refuse(fault)))
        }
        // One deadline, however often the handler waits.
        let deadline = waitEnd ?? min(coarseNanoseconds() &+ core.limits.suspensionSeconds.nanoseconds, requestEnd)
        waitEnd = deadline
        clock.enter(.handling, until: .max)
        meeting.suspend(until: deadline)
        core.suspended.add(1, ordering: .relaxed)
        unsafe MHD_suspend_connection(handle)
        return .pause
    }

    /// The request is over: nobody comes by for what the handler still does.
    func leaveHandler() {
        let job = meeting.withLock { meeting in
            meeting.abandon()
            return meeting.takeJob()
        }
        if let job { run(job) }
    }

    /// Why this request may not wait, if it may not.
    private var faultOfWaiting: HTTPFault? {
        if core.isEnding.load(ordering: .sequentiallyConsistent) { return .stopping }
        // Who was let in stays in.
        guard waitEnd == nil else { return nil }
        return core.suspended.load(ordering: .relaxed) >= core.limits.suspensions ? .overloaded : nil
    }

    /// Lets the loop have the connection again; with the lock of the meeting held, and only when suspended.
    func resume() {
        core.suspended.subtract(1, ordering: .relaxed)
        unsafe MHD_resume_connection(handle)
    }

    /// Answers for a handler that did not; whether there was need to.
    func expire(at now: UInt64, _ fault: HTTPFault) -> Bool {
        meeting.withLock { meeting in
            let isExpired = meeting.expire(at: now) { core.refusal(fault, head) }
            if isExpired { resume() }
            return isExpired
        }
    }
}

/// The handler of a request goes on where it began, on the loop of its connection.
///
/// So what has a result (a store's thread, of which there is one for all) only says so, the loops share the work of making
/// answers, and memory is freed by the thread that took it, whose lock nobody else wants.
extension ClientConnection: TaskExecutor {
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let errand = meeting.withLock { meeting in
            let errand = meeting.leave(job)
            if case .resuming = errand { resume() }
            return errand
        }
        // Of a request that was given up: its handler still comes to its end.
        if case .refused = errand { run(job) }
    }

    private func run(_ job: UnownedJob) {
        unsafe job.runSynchronously(on: asUnownedTaskExecutor())
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
