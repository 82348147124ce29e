package import Basics
private import Synchronization

/// The closure that a store calls once with the outcome of a call, on any thread, perhaps before the call returns.
///
/// The closure must not block.
package typealias StoreAnswer<Outcome> = @Sendable (Result<Outcome, StoreError>) -> Void

/// Suspends the caller's task until a call of a store is answered, and gives the call up if the task is cancelled.
///
/// The continuation is unchecked, because a store answers each call once; the conformance suite waits for each answer.
package func outcome<Outcome: Sendable>(
    of call: (@escaping StoreAnswer<Outcome>) -> Cancellation
) async throws(StoreError) -> Outcome {
    let cancelled = CancelledCall()
    let result: Result<Outcome, StoreError> = await withTaskCancellationHandler {
        await unsafe withUnsafeContinuation { continuation in
            cancelled.follow(call { unsafe continuation.resume(returning: $0) })
        }
    } onCancel: {
        cancelled.cancel()
    }
    return try result.get()
}

/// Gives a call up once its task is cancelled, also if that comes before the call has begun.
private final class CancelledCall: Sendable {
    private enum State {
        case waiting(Cancellation?)
        case cancelled
    }

    private let state = Mutex(State.waiting(nil))

    func follow(_ cancellation: @escaping Cancellation) {
        let isCancelled = state.withLock { state in
            guard case .waiting = state else { return true }
            state = .waiting(cancellation)
            return false
        }
        if isCancelled { cancellation() }
    }

    func cancel() {
        let before = state.withLock { state in
            defer { state = .cancelled }
            return state
        }
        if case .waiting(let cancellation?) = before { cancellation() }
    }
}
