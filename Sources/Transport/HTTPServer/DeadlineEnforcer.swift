import Basics
private import CMicroHTTPD
private import Glibc
import HTTP
import Platform
import Synchronization

/// The one thread that ends requests that take too long (V-145), and connections of clients that have disconnected.
///
/// Every byte resets libmicrohttpd's time-out, which also spares suspended connections; these deadlines are absolute.
final class DeadlineEnforcer: Sendable {
    private let core: ServerCore
    private let pause: UInt64
    private let thread = RepeatingThread()
    /// The time of the next look at streams, by the coarse clock; only the thread uses this property.
    private let nextLookAtStreams = Atomic<UInt64>(0)

    init(_ core: ServerCore) {
        self.core = core
        pause = core.times.pauseBetweenChecks
    }

    func start() throws(SystemError) {
        try thread.start("http-deadlines") { [self] in checkAndRest() }
    }

    func stop() {
        thread.requestStop()
        thread.join()
    }

    /// Checks at once, because connections are wanted.
    func checkNow() { thread.wake() }

    /// Ends everything that is late, and rests a while; returns the time of the next check.
    private func checkAndRest() -> Int64 {
        let clock = SystemTime()
        let begun = clock.monotonicNanoseconds
        core.endOverdueConnections(at: coarseNanoseconds())
        core.expireHandlers(at: coarseNanoseconds(), .timeout)
        let mayBeDisconnected = core.endDisconnectedPeers()
        lookAfterStreams(at: coarseNanoseconds())
        // Checks take at most a tenth of a core, however many connections or wake-ups there are.
        let taken = clock.monotonicNanoseconds &- begun
        _ = usleep(UInt32(min(taken / 1000 * 9, 250_000)))
        return Int64(clock.monotonicNanoseconds &+ (mayBeDisconnected ? min(pause, 20_000_000) : pause))
    }

    /// Looks at all streams at once, each second or more often, because the library looks at every suspended connection
    /// whenever some have been resumed.
    private func lookAfterStreams(at now: UInt64) {
        guard now >= nextLookAtStreams.load(ordering: .relaxed) else { return }
        nextLookAtStreams.store(now &+ min(core.times.silence / 4, 1_000_000_000), ordering: .relaxed)
        core.lookAfterStreams(at: now)
    }
}

extension TimeLimits {
    /// A quarter of the shortest limit, in nanoseconds, but at least 10 and at most 250 ms.
    fileprivate var pauseBetweenChecks: UInt64 {
        let all = [header, body, request, idle, connection, suspension, bodyRateGrace, answerRateGrace, silence]
        return min(max((all.min() ?? 0) / 4, 10_000_000), 250_000_000)
    }
}

extension ServerCore {
    /// A connection that was idle for less than these 100 ms is in use, by a client that sends request after request.
    private static let pauseOfBusyClients: UInt64 = 100_000_000

    /// Ends the connections that have used up their time.
    ///
    /// While the lock is held, a socket cannot be closed, and its number cannot be given to another connection.
    func endOverdueConnections(at now: UInt64) {
        var exceeded: [Deadline] = []
        connections.withLock { open in
            for connection in open.values {
                guard
                    let deadline = connection.publishedPhase.exceeded(at: now, limits: limits, times)
                        ?? connection.slowDownload(at: now)
                else { continue }
                // A request that has come is answered, although the loop has not read it yet.
                if deadline == .idle, connection.hasUnreadBytes { continue }
                if connection.shutDown() { exceeded.append(deadline) }
            }
        }
        for deadline in exceeded { count(deadline) }
    }

    /// Ends the connection that has waited for a request for the longest time; returns false if none has waited at all.
    func endIdlestConnection() -> Bool {
        let isEnded = connections.withLock { open in
            let newest = coarseNanoseconds() &+ times.idle &- min(Self.pauseOfBusyClients, times.idle)
            let idle = open.values.filter { connection in
                connection.publishedPhase.current == .idle && connection.publishedPhase.end <= newest
                    && !connection.isShutDown.load(ordering: .relaxed) && !connection.hasUnreadBytes
            }
            return idle.min { $0.publishedPhase.end < $1.publishedPhase.end }?.shutDown() ?? false
        }
        if isEnded { count(.idle) }
        return isEnded
    }

    /// Answers for the handlers that are late, or for all if `now` is `.max`, which are then not counted.
    ///
    /// The lock on the connections is not held, because libmicrohttpd takes a lock of its own to resume.
    func expireHandlers(at now: UInt64, _ fault: HTTPFault) {
        guard suspended.load(ordering: .sequentiallyConsistent) > 0 || now == .max else { return }
        for connection in connections.withLock({ Array($0.values) }) where connection.expireHandler(at: now, fault) {
            if now != .max { count(.suspension) }
        }
    }

    /// Ends the connections without a request under way, when the server stops.
    ///
    /// Until `headsEnd` the server waits for header blocks that have begun or may still come, on a new connection or a
    /// kept one: a request may be on its way.
    func endUnusedConnections(at now: UInt64) {
        let isHeadLate = now >= headsEnd.load(ordering: .relaxed)
        let isOver = refusesToWait.load(ordering: .relaxed)
        guard isHeadLate || isOver else { return }
        connections.withLock { open in
            for connection in open.values where isOver || !connection.hasUnreadBytes {
                switch connection.publishedPhase.current {
                case .idle: _ = connection.shutDown()
                case .header where isHeadLate: _ = connection.shutDown()
                case .header, .body, .handling, .response, .longResponse, .discarding, .stream, .silentStream, nil:
                    break
                }
            }
        }
    }
}

extension ClientConnection {
    /// Returns the deadline if the client takes a long response, or a piece of a stream, too slowly.
    fileprivate func slowDownload(at now: UInt64) -> Deadline? {
        let phase = publishedPhase.current
        guard phase == .longResponse || phase == .stream else {
            downloadPace = nil
            return nil
        }
        let number = requests.load(ordering: .relaxed)
        let acknowledged = CMicroHTTPD_acknowledged(socket)
        guard downloadPace?.request == number else {
            downloadPace = DownloadPace(request: number, time: now, acknowledged: acknowledged)
            return nil
        }
        let isTooSlow = downloadPace?.isTooSlow(at: now, acknowledged: acknowledged, core.limits, core.times)
        return isTooSlow == true ? .answer : nil
    }

    /// Whether bytes have arrived that the loop has not read yet, such as a request.
    fileprivate var hasUnreadBytes: Bool {
        var byte: UInt8 = 0
        return unsafe recv(socket, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)) > 0
    }

    /// Ends the connection, once; the loop notices the end at once and frees the connection.
    func shutDown() -> Bool {
        guard isShutDown.exchange(true, ordering: .relaxed) == false else { return false }
        _ = shutdown(socket, Int32(SHUT_RDWR))
        return true
    }
}

/// The delay of a client behind the least rate at which it must take content that keeps memory occupied.
///
/// A client is never ahead, so one that stops reading loses the connection equally soon, however fast it was before.
struct DownloadPace {
    let request: Int
    /// The time of the last look, by the coarse clock.
    private var time: UInt64
    /// The bytes that the client had at the last look; negative if the system cannot tell.
    private var acknowledged: Int64
    /// The nanoseconds that the missing bytes take at the least rate.
    private var delay = 0.0

    init(request: Int, time: UInt64, acknowledged: Int64) {
        (self.request, self.time, self.acknowledged) = (request, time, acknowledged)
    }

    /// Returns whether the client is behind by the whole grace.
    mutating func isTooSlow(
        at now: UInt64, acknowledged total: Int64, _ limits: ServerLimits, _ times: TimeLimits
    ) -> Bool {
        guard acknowledged >= 0, total >= acknowledged else { return false }
        let earned = Double(total - acknowledged) / limits.answerRate * 1e9
        delay = max(0, delay + Double(now &- time) - earned)
        (time, acknowledged) = (now, total)
        return delay >= Double(times.answerRateGrace)
    }
}

// Finds connections whose peers have disconnected. The loops' epoll is edge-triggered: the end of a stream that comes
// together with data is not reported again, and libmicrohttpd does not look for it after a short read.

extension ServerCore {
    /// The number of connections that are checked while the lock is held.
    private static let batch = 256

    /// Ends the connections whose peers have disconnected; returns whether some must be checked again.
    ///
    /// A client that has sent a whole request and closes only its half still gets its answer.
    func endDisconnectedPeers() -> Bool {
        let all = connections.withLock { $0.values.filter { $0.publishedPhase.current != .silentStream } }
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
            // The lock on the connections is not held here, because libmicrohttpd takes a lock of its own to resume.
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
        // The loop writes, and so notices the end itself; `lookAfterStreams` looks at silent streams.
        case .response, .longResponse, .stream, .silentStream, nil: return .present
        }
    }
}

// Streams that have nothing to send: the loops do not look at suspended connections.

extension ServerCore {
    /// Ends the streams whose clients have left or have closed their half, and sends the fillers that are due.
    func lookAfterStreams(at now: UInt64) {
        guard slots.streams > 0 else { return }
        let silent = connections.withLock { $0.values.filter { $0.publishedPhase.current == .silentStream } }
        // A socket that was closed meanwhile belongs to no suspended connection, so its events are ignored afterwards.
        var entries = silent.map { pollfd(fd: $0.socket, events: Int16(POLLRDHUP), revents: 0) }
        _ = unsafe poll(&entries, nfds_t(entries.count), 0)
        for (connection, entry) in zip(silent, entries) {
            if entry.revents != 0 {
                if connection.abandonStream() { disconnected.add(1, ordering: .relaxed) }
            } else if now >= connection.publishedPhase.end {
                connection.breakSilence()
            }
        }
    }

    /// Continues all suspended streams, when the server stops.
    func endStreams() {
        for connection in connections.withLock({ Array($0.values) }) { connection.continueStream() }
    }
}

/// Linux's event for a peer that has closed its half, which the headers hide here.
private let POLLRDHUP = 0x2000
