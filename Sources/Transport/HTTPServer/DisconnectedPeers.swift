private import CMicroHTTPD
private import Glibc
import HTTP
import Synchronization

// Finds connections whose peers have disconnected. The loops' epoll is edge-triggered: the end of a stream that comes
// together with data is not reported again, and libmicrohttpd does not look for it after a short read.

extension ServerCore {
    /// The number of connections that are checked while the lock is held.
    private static let batch = 256

    /// Ends the connections whose peers have disconnected; returns whether some must be checked again.
    ///
    /// A client that has sent a whole request and closes only its half still gets its answer.
    func endDisconnectedPeers() -> Bool {
        let all = connections.withLock { Array($0.values) }
        var areSomeUnclear = false
        for start in stride(from: 0, to: all.count, by: Self.batch) {
            var reset: [ClientConnection] = []
            // While the lock is held, a socket cannot be closed, and its number cannot be given to another connection.
            connections.withLock { open in
                let some = all[start..<min(start + Self.batch, all.count)].filter { open[ObjectIdentifier($0)] != nil }
                for (connection, events) in Self.readable(some) {
                    switch connection.peerState(events) {
                    case .present: break
                    case .perhapsDisconnected: areSomeUnclear = true
                    case .disconnected: if connection.shutDown() { disconnected.add(1, ordering: .relaxed) }
                    case .resetWhileHandled: reset.append(connection)
                    }
                }
            }
            // That lock is not held here, because libmicrohttpd takes a lock of its own to resume.
            for connection in reset where connection.abandonHandler() { disconnected.add(1, ordering: .relaxed) }
        }
        return areSomeUnclear
    }

    /// Returns the connections with something to read; the end of a stream counts as well.
    private static func readable(_ connections: [ClientConnection]) -> [(ClientConnection, events: Int16)] {
        var entries = connections.map { pollfd(fd: $0.socket, events: Int16(POLLIN), revents: 0) }
        guard unsafe poll(&entries, nfds_t(entries.count), 0) > 0 else { return [] }
        return zip(connections, entries).filter { $1.revents != 0 }.map { ($0, $1.revents) }
    }
}

/// The enforcing thread's knowledge of the other end of a connection.
private enum PeerState {
    case present
    /// The peer has closed its half; the loop may still be reading earlier bytes.
    case perhapsDisconnected
    /// The peer has closed its half, and has not sent a whole request.
    case disconnected
    /// The peer has reset the connection while a handler works.
    case resetWhileHandled
}

extension ClientConnection {
    fileprivate func peerState(_ events: Int16) -> PeerState {
        switch publishedPhase.current {
        case .idle, .header, .body, .discarding:
            var byte: UInt8 = 0
            // Nothing is unread and nothing more will come; a reset counts as well.
            let count = unsafe recv(socket, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT))
            guard count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR) else { return .present }
            let stamp = publishedPhase.stamp
            defer { halfClosedStamp = stamp }
            return halfClosedStamp == stamp ? .disconnected : .perhapsDisconnected
        case .handling: return events & Int16(POLLERR) == 0 ? .present : .resetWhileHandled
        // The loop writes, and so notices the end itself.
        case .response, .longResponse, nil: return .present
        }
    }
}
