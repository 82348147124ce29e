package import Tasks

/// The suspended caller of a store, to be answered exactly once.
///
/// The continuation is unchecked, because the checked one costs an allocation and a lock at each call. Every path of
/// the store's threads ends in one answer, and the conformance suite waits for each answer.
@safe
package struct Reply<Outcome: Sendable>: Sendable {
    private let continuation: UnsafeContinuation<Result<Outcome, StoreError>, Never>

    private init(_ continuation: UnsafeContinuation<Result<Outcome, StoreError>, Never>) {
        unsafe self.continuation = unsafe continuation
    }

    /// Suspends the caller until the reply is answered; `leave` is called if the caller's task is cancelled meanwhile.
    package static func awaiting(
        _ start: (Reply<Outcome>) -> Void, onCancel leave: @Sendable () -> Void
    ) async throws(StoreError) -> Outcome {
        let result = await withTaskCancellationHandler {
            await unsafe withUnsafeContinuation { continuation in
                unsafe start(Reply(continuation))
            }
        } onCancel: {
            leave()
        }
        return try result.get()
    }

    /// Resumes the caller on its executor.
    package func answer(_ result: Result<Outcome, StoreError>) {
        unsafe continuation.resume(returning: result)
    }
}
