internal import HTTP
internal import Synchronization

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

    private(set) var number: UInt64 = 0
    private var state = State.idle

    /// A task starts; its number.
    mutating func begin() -> UInt64 {
        number &+= 1
        state = .running
        return number
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
