internal import Basics
private import CMicroHTTPD
private import Glibc
internal import HTTP
internal import Platform
internal import Synchronization

/// The one thread that ends what takes too long (V-145).
///
/// libmicrohttpd's own time-out is reset by every byte, and spares suspended connections; these deadlines are absolute.
final class Reaper: Sendable {
    private let core: ServerCore
    private let wakeup = Wakeup()
    private let isStopped = Atomic<Bool>(false)
    private let thread = Mutex<NamedThread?>(nil)

    init(_ core: ServerCore) { self.core = core }

    func start() throws(ServerStartError) {
        let started = try rethrowing(as: ServerStartError.init) { () throws(NamedThread.Failure) in
            try NamedThread.start("http-reaper") { [self] in run() }
        }
        thread.withLock { $0 = started }
    }

    func stop() {
        isStopped.store(true, ordering: .sequentiallyConsistent)
        wakeup.wake()
        thread.withLock { $0.take() }?.join()
    }

    /// Looks again at once: slots are wanted.
    func hurry() { wakeup.wake() }

    private func run() {
        let pause = core.limits.reaperPause.nanoseconds
        let clock = SystemTime()
        var isSuspected = false
        while !isStopped.load(ordering: .sequentiallyConsistent) {
            let start = clock.monotonicNanoseconds
            _ = wakeup.wait(untilMonotonicNanoseconds: start &+ (isSuspected ? min(pause, 20_000_000) : pause))
            let begun = clock.monotonicNanoseconds
            core.cutConnections(at: coarseNanoseconds())
            core.expireSuspensions(at: coarseNanoseconds(), .timeout)
            isSuspected = core.cutVanished()
            // At most a tenth of a core, however many connections there are and however often it is hurried.
            let taken = clock.monotonicNanoseconds &- begun
            _ = usleep(UInt32(min(taken / 1000 * 9, 250_000)))
        }
    }
}

extension ServerLimits {
    /// Often enough for the shortest limit, seldom enough to cost nothing.
    fileprivate var reaperPause: Double {
        let shortest =
            [
                headerSeconds, bodySeconds, requestSeconds, idleSeconds, connectionSeconds, suspensionSeconds,
                bodyRateGraceSeconds, answerRateGraceSeconds,
            ].min() ?? 1
        return min(max(shortest / 4, 0.01), 0.25)
    }
}

extension ServerCore {
    /// Ends the connections that have used up their time.
    ///
    /// With the lock held a socket cannot be closed, and its number not be given to another connection.
    func cutConnections(at now: UInt64) {
        var cut: [Deadline] = []
        connections.withLock { open in
            for connection in open.values {
                guard
                    let deadline = connection.clock.exceeded(at: now, limits: limits)
                        ?? connection.slowness(at: now)
                else { continue }
                if connection.cut() { cut.append(deadline) }
            }
        }
        for deadline in cut { count(deadline) }
    }

    /// Answers for the handlers that did not in time; at the end of time, for all.
    ///
    /// Without the lock on the connections: libmicrohttpd takes one of its own to resume.
    func expireSuspensions(at now: UInt64, _ fault: HTTPFault) {
        guard suspended.load(ordering: .sequentiallyConsistent) > 0 || now == .max else { return }
        for connection in connections.withLock({ Array($0.values) }) where connection.expire(at: now, fault) {
            if now != .max { count(.suspension) }
        }
    }

    /// Ends the connections on which nothing is asked, when the server stops.
    ///
    /// A header block that has begun to come in, or still may on a new connection, is waited for until `headsEnd`.
    func cutUnasked(at now: UInt64) {
        let isHeadLate = now >= headsEnd.load(ordering: .relaxed)
        connections.withLock { open in
            for connection in open.values {
                switch connection.clock.current {
                case .idle: _ = connection.cut()
                case .header where isHeadLate: _ = connection.cut()
                case .header, .body, .handling, .answer, .longAnswer, .discarding, nil: break
                }
            }
        }
    }

    /// A connection is about to be closed.
    func forget(_ connection: ClientConnection) {
        connections.withLock { _ = $0.removeValue(forKey: ObjectIdentifier(connection)) }
        requestsOfClosed.add(connection.requests.load(ordering: .relaxed), ordering: .relaxed)
        connection.forgetClient()
        slots.giveBack(connection.address)
    }
}

extension ClientConnection {
    /// Whether the client takes a long answer too slowly; looked at by the reaper only.
    fileprivate func slowness(at now: UInt64) -> Deadline? {
        guard clock.isAnsweringAtLength else {
            pace = nil
            return nil
        }
        let number = requests.load(ordering: .relaxed)
        guard let pace, pace.request == number else {
            pace = ReadingPace(request: number, since: now, acknowledged: CMicroHTTPD_acknowledged(socket))
            return nil
        }
        guard now &- pace.since >= core.limits.answerRateGraceSeconds.nanoseconds else { return nil }
        return pace.isSlow(at: now, acknowledged: CMicroHTTPD_acknowledged(socket), core.limits) ? .answer : nil
    }

    /// Ends the connection, once; the loop notices at once and frees it.
    func cut() -> Bool {
        guard isCut.exchange(true, ordering: .relaxed) == false else { return false }
        _ = shutdown(socket, Int32(SHUT_RDWR))
        return true
    }
}
