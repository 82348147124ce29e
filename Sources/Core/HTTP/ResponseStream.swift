import Synchronization

/// The content of an answer that is made while it is sent, in pieces, such as a stream of events.
///
/// A producer sends a piece when it was told that the one before is with the client's system, so a slow reader keeps
/// one piece in memory. Whoever drops the answer ends the stream, too. Every thread may call these functions.
package final class ResponseStream: Sendable {
    private struct State {
        var piece: [UInt8] = []
        /// The bytes of the piece that the server has taken.
        var taken = 0
        /// An object that is kept until the piece is sent, such as its place.
        var kept: (any AnyObject & Sendable)?
        /// Whether the producer waits to hear that its piece was sent.
        var owesDrained = false
        var isEnded = false
        var wake: (@Sendable () -> Void)?
        var onDrained: (@Sendable () -> Void)?
        var onClosed: (@Sendable () -> Void)?

        var unsent: Int { piece.count - taken }
    }

    /// What the server can do next.
    package enum Condition: Sendable {
        case hasContent, isEmpty, isOver
    }

    /// The server sends it when nothing else was sent for a while, to keep proxies from ending the connection.
    private let filler: [UInt8]
    private let state: Mutex<State>

    /// Creates a stream whose first piece may be sent at once.
    ///
    /// `onDrained` is called when a piece is with the client's system, and `onClosed`, once, when the answer is over or
    /// was never sent. Both are called without a lock, on a thread that must not block.
    package init(
        filler: [UInt8], onDrained: @escaping @Sendable () -> Void, onClosed: @escaping @Sendable () -> Void
    ) {
        self.filler = filler
        state = Mutex(State(onDrained: onDrained, onClosed: onClosed))
    }

    deinit { close() }
}

// For the producer.
extension ResponseStream {
    /// Sends a piece; returns false if the one before is not sent yet, or if the stream has ended.
    @discardableResult
    package func send(_ piece: [UInt8], keeping kept: (any AnyObject & Sendable)? = nil) -> Bool {
        let (isTaken, wake) = state.withLock { state in
            guard !state.isEnded, !state.owesDrained else { return (false, nil as (@Sendable () -> Void)?) }
            // Perhaps the filler is being sent.
            if state.unsent > 0 { state.piece += piece } else { (state.piece, state.taken) = (piece, 0) }
            (state.kept, state.owesDrained) = (kept, true)
            return (true, state.wake)
        }
        wake?()
        return isTaken
    }

    /// Sends these bytes after the piece that is on its way, and then ends the answer in order.
    package func end(_ last: [UInt8] = []) {
        let wake = state.withLock { state in
            guard !state.isEnded else { return nil as (@Sendable () -> Void)? }
            state.piece += last
            state.isEnded = true
            return state.wake
        }
        wake?()
    }
}

// For the server.
extension ResponseStream {
    /// Names the function that continues to send, once the server has found nothing to send.
    package func connect(_ wake: @escaping @Sendable () -> Void) {
        state.withLock { $0.wake = wake }
    }

    /// Says what can be done now; a server that stops ends a stream as soon as all is sent.
    package func condition(isStopping: Bool) -> Condition {
        state.withLock { $0.unsent > 0 ? .hasContent : $0.isEnded || isStopping ? .isOver : .isEmpty }
    }

    /// Moves bytes into the buffer; returns how many.
    package func take(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        let (count, kept) = state.withLock { state in
            let count = min(buffer.count, state.unsent)
            guard count > 0 else { return (0, nil as (any AnyObject & Sendable)?) }
            unsafe buffer.copyBytes(from: state.piece[state.taken..<state.taken + count])
            state.taken += count
            guard state.unsent == 0 else { return (count, nil) }
            defer { (state.piece, state.taken, state.kept) = ([], 0, nil) }
            return (count, state.kept)
        }
        // The release may run foreign code, and so happens without the lock.
        withExtendedLifetime(kept) {}
        return count
    }

    /// Tells the producer that its piece was sent, if that was not told before.
    package func drained() {
        let onDrained = state.withLock { state in
            guard state.owesDrained, state.unsent == 0 else { return nil as (@Sendable () -> Void)? }
            state.owesDrained = false
            return state.onDrained
        }
        onDrained?()
    }

    /// Puts the filler into an empty stream.
    package func fill() {
        state.withLock { state in
            guard state.unsent == 0, !state.isEnded else { return }
            (state.piece, state.taken) = (filler, 0)
        }
    }

    /// Ends the stream without sending what is left.
    package func close() {
        let old = state.withLock { state in
            defer { state = State(isEnded: true) }
            return state
        }
        old.onClosed?()
    }
}
