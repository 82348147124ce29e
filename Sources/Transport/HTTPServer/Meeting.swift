internal import HTTP

/// Where the loop that needs a decision and the task that makes it find each other, whoever comes first.
///
/// One lock covers both, so a connection is resumed only if it was suspended, and only once. A decision that comes
/// after its request was given up carries an old number and is dropped.
struct Meeting {
    enum State {
        case idle
        case running
        case suspended(deadline: UInt64)
        case done(Decision)
    }

    /// What becomes of a part of the task that can go on.
    enum Errand {
        /// It is kept for the loop, which will come by.
        case kept
        /// It is kept, and the connection must be resumed, so that the loop comes.
        case resuming
        /// Nobody will come for it.
        case refused
    }

    private(set) var number: UInt64 = 0
    private var state = State.idle
    private var job: UnownedJob?

    /// A task starts; its number.
    mutating func begin() -> UInt64 {
        number &+= 1
        state = .running
        return number
    }

    /// A part of the task can go on.
    ///
    /// There is one at a time, unless another of a request that was given up is still on its way, or the task has children.
    mutating func leave(_ job: UnownedJob) -> Errand {
        guard self.job == nil else { return .refused }
        switch state {
        case .running:
            self.job = job
            return .kept
        case .suspended:
            self.job = job
            state = .running
            return .resuming
        case .idle, .done:
            return .refused
        }
    }

    /// The part of the task that can go on, if there is one.
    mutating func takeJob() -> UnownedJob? {
        defer { job = nil }
        return job
    }

    /// A task is done; whether the connection waits for that and must be resumed.
    mutating func finish(_ decision: Decision, number: UInt64) -> Bool {
        guard number == self.number else { return false }
        switch state {
        case .running:
            state = .done(decision)
            return false
        case .suspended:
            state = .done(decision)
            return true
        case .idle, .done:
            return false
        }
    }

    /// The decision, if it is there.
    mutating func take() -> Decision? {
        guard case .done(let decision) = state else { return nil }
        state = .idle
        return decision
    }

    /// The connection is suspended from now on.
    mutating func suspend(until deadline: UInt64) { state = .suspended(deadline: deadline) }

    /// Nobody waits for the task any more.
    mutating func abandon() {
        number &+= 1
        state = .idle
    }

    /// Puts this answer in the place of the decision that did not come; whether the connection must be resumed.
    mutating func expire(at now: UInt64, with response: () -> Response) -> Bool {
        guard case .suspended(let deadline) = state, now >= deadline else { return false }
        number &+= 1
        state = .done(.respond(response()))
        return true
    }
}
