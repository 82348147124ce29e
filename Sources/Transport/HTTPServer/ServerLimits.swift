package import Basics
private import Glibc
import HTTP

/// The limits of a server: how much it accepts, and how long it waits (V-140, V-141, V-145).
package struct ServerLimits: Sendable, Equatable {
    /// The most connections at once, those of streams included; more wait in the backlog of the system.
    package var connections = 1020
    /// The most connections at once from one address of IPv4 or one /64 of IPv6, and the most requests at once of one
    /// client of a trusted proxy; 0 is no limit.
    package var perAddress = 0
    /// Addresses that may have any number of connections.
    package var unlimited: [IPAddressRange] = []
    /// Proxies whose statements about their clients are trusted; they may have any number of connections, too.
    package var trustedProxies: [IPAddressRange] = []
    /// The most bytes of a head: the request line and the fields; a request with more gets a 414 or 431.
    package var head = 24 * 1024
    /// libmicrohttpd's bytes for a connection: a head, its notes about a hundred lines, and an answer's fields.
    ///
    /// The library maps more than 32 KiB, so that only pages that were used take memory.
    package var connectionMemory = 36 * 1024
    /// The most field lines of a request; a request with more gets a 431.
    package var fields = 100
    package var headerTime: Duration = .seconds(10)
    package var bodyTime: Duration = .seconds(30)
    /// The time for a request, from its first line to the last byte of its answer.
    package var requestTime: Duration = .seconds(60)
    /// The time between two requests, longer than the minute for which most proxies keep a connection.
    package var idleTime: Duration = .seconds(75)
    /// The most requests of one connection; the last answer says so.
    package var requestsPerConnection = 1000
    /// The age of a connection from which on an answer is its last one, and says so.
    package var connectionTime: Duration = .seconds(600)
    /// The bytes a second at which a body must arrive on average, after ``bodyRateGrace``.
    package var bodyRate = 500.0
    /// The time without a demand on the speed of a body.
    package var bodyRateGrace: Duration = .seconds(5)
    /// The bytes a second that a client must take of a long answer or of a piece of a stream.
    ///
    /// 64 kbit/s are less than EDGE gives, and far more than an attacker takes who wants to keep memory occupied.
    package var answerRate = 8192.0
    /// The time by which a reader may be behind that rate: a phone that changes its cell is silent for some seconds.
    package var answerRateGrace: Duration = .seconds(10)
    /// The time that a request waits for the handler, once with its head and once with its body; then it is a 503.
    package var suspensionTime: Duration = .seconds(20)
    /// The most requests that wait for the handler at once; more are a 503 (V-153).
    package var suspensions = 1020
    /// The connections that only streams may take; a stream beyond them takes one of the others.
    package var streams = 0
    /// The connections that are not kept for streams.
    package var connectionsOfRequests: Int { connections - streams }
    /// The time after which a stream that has nothing to send sends its filler.
    package var silence: Duration = .seconds(15)
    /// The most bytes of an unwanted body that are read to keep the connection.
    package var drainedBody = 64 * 1024
    /// The number of event loops, each a thread; at least two.
    package var loops = max(2, sysconf(Int32(_SC_NPROCESSORS_ONLN)))

    package init() {}
}

/// The times of ``ServerLimits`` in nanoseconds, converted once because each request needs some of them.
struct TimeLimits: Sendable {
    let header: UInt64
    let body: UInt64
    let request: UInt64
    let idle: UInt64
    let connection: UInt64
    let bodyRateGrace: UInt64
    let answerRateGrace: UInt64
    let suspension: UInt64
    let silence: UInt64

    init(_ limits: ServerLimits) {
        header = UInt64(limits.headerTime.nanoseconds)
        body = UInt64(limits.bodyTime.nanoseconds)
        request = UInt64(limits.requestTime.nanoseconds)
        idle = UInt64(limits.idleTime.nanoseconds)
        connection = UInt64(limits.connectionTime.nanoseconds)
        bodyRateGrace = UInt64(limits.bodyRateGrace.nanoseconds)
        answerRateGrace = UInt64(limits.answerRateGrace.nanoseconds)
        suspension = UInt64(limits.suspensionTime.nanoseconds)
        silence = UInt64(limits.silence.nanoseconds)
    }
}

extension ServerLimits {
    /// A server with fewer connections than this is useless.
    private static let leastUsefulConnections = 8

    /// The fewest connections that the server may be given: as ``bounded`` allows, at least one for each loop.
    private var leastConnections: Int { min(bounded.connections, max(Self.leastUsefulConnections, bounded.loops)) }

    /// The descriptors besides connections: epoll and its wakeup for each loop, and the listening socket and its own.
    private var fixedDescriptors: Int { 2 + 2 * bounded.loops }

    /// Returns the most descriptors that servers of these limits take.
    package static func descriptors(of servers: [ServerLimits]) -> Int {
        servers.reduce(0) { $0 + $1.fixedDescriptors + $1.bounded.connections }
    }

    /// Returns the same servers with connections that fit into these descriptors; nil if there would be too few.
    ///
    /// Each server gets a few connections, and the rest is divided in proportion to the limits.
    package static func fitting(_ servers: [ServerLimits], into descriptors: Int) -> [ServerLimits]? {
        guard Self.descriptors(of: servers) > descriptors else { return servers }
        let least = servers.map(\.leastConnections)
        let more = zip(servers, least).map { $0.bounded.connections - $1 }
        let rest = descriptors - servers.reduce(0) { $0 + $1.fixedDescriptors } - least.reduce(0, +)
        guard rest >= 0 else { return nil }
        let wished = max(more.reduce(0, +), 1)
        return servers.indices.map { index in
            var limits = servers[index]
            limits.connections = least[index] + more[index] * rest / wished
            limits.streams = limits.streams * limits.connections / servers[index].bounded.connections
            limits.suspensions = min(limits.suspensions, limits.connections)
            return limits
        }
    }

    /// Returns the fewest descriptors that are enough for these servers.
    package static func leastDescriptors(of servers: [ServerLimits]) -> Int {
        servers.reduce(0) { $0 + $1.fixedDescriptors + $1.leastConnections }
    }
}
