/// Where the outcome of a call goes; must be used exactly once.
///
/// An unchecked continuation, because the checked one costs an allocation and a lock at each call. Every job holds its
/// reply from the moment when the queue took it, and every path of the two threads ends in one answer: that is what the
/// conformance suite waits for.
@safe
package struct Reply<Outcome: Sendable>: Sendable {
    private let continuation: UnsafeContinuation<Result<Outcome, StoreError>, Never>

    private init(_ continuation: UnsafeContinuation<Result<Outcome, StoreError>, Never>) {
        unsafe self.continuation = unsafe continuation
    }

    /// Suspends the caller until somebody answers.
    package static func awaiting(_ start: (Reply<Outcome>) -> Void) async throws(StoreError) -> Outcome {
        let result = await unsafe withUnsafeContinuation { continuation in
            unsafe start(Reply(continuation))
        }
        return try result.get()
    }

    /// Resumes the caller, wherever its executor wants it to go on.
    package func answer(_ result: Result<Outcome, StoreError>) {
        unsafe continuation.resume(returning: result)
    }
}
