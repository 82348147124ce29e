import Synchronization

/// Fetches documents over HTTPS, one blocking call each, for threads that may wait.
///
/// Every call uses a connection of its own: nothing (cookies, sessions, credentials) is carried from one to the next.
/// The usual proxy variables of the environment are honoured, except for loopback addresses.
package final class HTTPFetcher: Sendable {
    private struct State {
        var cancelled = false
        var running: [TransferLoop.Waker] = []
    }

    private let state = Mutex(State())

    package init() {}

    /// Fetches one document with status 200 over verified TLS, without redirects or encoding, within the limits (V-75).
    ///
    /// - Parameter request: the address and the limits.
    /// - Returns: the document, whole.
    /// - Throws: ``FetchError``; at the latest when the total deadline passes, or at once on ``cancel()``.
    package func fetch(_ request: FetchRequest) throws(FetchError) -> FetchedDocument {
        let transfer = try Transfer(request)
        let loop = try TransferLoop(transfer)
        guard enter(loop.waker) else { throw .cancelled }
        // Leaves before the loop is freed, so that a freed loop is never woken.
        defer { leave(loop.waker) }
        let result = try loop.run { self.state.withLock { $0.cancelled } }
        return try transfer.document(after: result)
    }

    /// Ends all running calls at once, and every later one, with ``FetchError/cancelled`` (V-91).
    package func cancel() {
        state.withLock { state in
            state.cancelled = true
            for waker in state.running { waker.wake() }
        }
    }

    private func enter(_ waker: TransferLoop.Waker) -> Bool {
        state.withLock { state in
            guard !state.cancelled else { return false }
            state.running.append(waker)
            return true
        }
    }

    private func leave(_ waker: TransferLoop.Waker) {
        state.withLock { state in state.running.removeAll { $0 == waker } }
    }
}
