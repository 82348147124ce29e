import CMicroHTTPD
import HTTP
import Synchronization

// A response whose content is made while it is sent. The connection is suspended while there is nothing to send.
extension ClientConnection {
    /// Returns a response of the library whose content comes from the stream; HTTP/1.0 gets it without chunks, and the
    /// connection ends after it.
    func begin(_ stream: ResponseStream) -> OpaquePointer? {
        core.slots.beginStream(from: address)
        forgetClient()
        stream.connect { [self] in _ = apply(.streamContinues) }
        let connection = unsafe Unmanaged.passUnretained(self).toOpaque()
        // The length is unknown. A client of HTTP/1.0 gets at most a kibibyte at once.
        let message = unsafe MHD_create_response_from_callback(.max, 1024, contentWanted, connection, nil)
        // 0.9.75 would send the last chunk to HEAD, too.
        if head?.method == .head, let message = unsafe message { unsafe CMicroHTTPD_forbid_chunks(message) }
        // The stream may last for hours, and needs neither the head nor what the wait has kept.
        (head, cancelWait) = (nil, nil)
        return unsafe message
    }

    /// Moves content into the library's buffer, or suspends the connection if there is none.
    fileprivate func fill(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
        guard let stream = sent?.stream, !isShutDown.load(ordering: .relaxed) else { return endOfContent }
        while true {
            let count = unsafe stream.take(into: buffer)
            if count > 0 { return count }
            // A thread takes the lock after it has added content, so none comes unnoticed before the suspension.
            let condition = lifecycle.withLock { lifecycle in
                let isStopping = core.closesAfterAnswers.load(ordering: .sequentiallyConsistent)
                let condition = stream.condition(isStopping: isStopping)
                if condition == .isEmpty { _ = apply(.streamDrained, to: &lifecycle) }
                return condition
            }
            switch condition {
            case .hasContent: continue
            case .isOver: return endOfContent
            case .isEmpty:
                stream.drained()
                return 0
            }
        }
    }

    func end(_ stream: ResponseStream) {
        core.slots.endStream(from: address)
        stream.close()
    }

    /// Continues a suspended stream, so that the loop sees that the server stops.
    func continueStream() { _ = apply(.streamContinues) }

    /// Sends the filler of a stream that has been silent for too long.
    func breakSilence() {
        lifecycle.withLock { lifecycle in
            guard case .streamSuspended(let stream) = lifecycle.state else { return }
            stream.fill()
            _ = apply(.streamContinues, to: &lifecycle)
        }
    }

    /// Ends a suspended stream whose client has left; returns false if no stream was suspended.
    func abandonStream() -> Bool {
        lifecycle.withLock { lifecycle in
            // The library closes no socket of a suspended connection.
            guard case .streamSuspended = lifecycle.state, shutDown() else { return false }
            _ = apply(.peerDisconnected, to: &lifecycle)
            return true
        }
    }
}

/// `MHD_CONTENT_READER_END_OF_STREAM`.
private let endOfContent = -1

/// Takes the library's question for content.
private func contentWanted(
    _ connection: UnsafeMutableRawPointer?, _ position: UInt64, _ buffer: UnsafeMutablePointer<CChar>?, _ size: Int
) -> Int {
    guard let connection = unsafe object(ClientConnection.self, connection) else { return endOfContent }
    return unsafe connection.fill(UnsafeMutableRawBufferPointer(start: buffer, count: size))
}
