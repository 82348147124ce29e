import Synchronization
import Tasks

/// A caller that waits for an outcome, answered once: by the first answer, or when nothing refers to it any more.
final class Caller<Outcome: Sendable>: Sendable {
    private let reply: Reply<Outcome>?
    private let isAnswered = Atomic(false)

    /// Without a reply (in tests) no one waits.
    init(_ reply: Reply<Outcome>?) {
        self.reply = reply
    }

    deinit {
        answer(.failure(.broken(reason: "a request was dropped without an answer")))
    }

    func answer(_ result: Result<Outcome, StoreError>) {
        guard !isAnswered.exchange(true, ordering: .acquiringAndReleasing) else { return }
        reply?.answer(result)
    }
}
