package import Basics
private import Glibc
import HTTP

/// How much a server takes on, and how long it waits (V-140, V-141, V-145).
package struct ServerLimits: Sendable, Equatable {
    /// Connections at once; more wait in the backlog of the system.
    package var connections = 1020
    /// Connections at once from one address of IPv4 or one /64 of IPv6, and requests at once of one client of a trusted
    /// proxy; 0 is no limit.
    package var perAddress = 0
    /// Addresses that may have any number of connections.
    package var unlimited: [IPAddressRange] = []
    /// Proxies whose statements about their clients are trusted; they may have any number of connections, too.
    package var trustedProxies: [IPAddressRange] = []
    /// Bytes for the header block of a request; more is a 431.
    package var connectionMemory = 12 * 1024
    /// Field lines of a request; more is a 431.
    package var fields = 100
    /// Seconds for the header block.
    package var headerSeconds = 10.0
    /// Seconds for the body.
    package var bodySeconds = 30.0
    /// Seconds for a request, from its first line to the last byte of its answer.
    package var requestSeconds = 60.0
    /// Seconds between two requests.
    package var idleSeconds = 15.0
    /// Requests of one connection.
    package var requestsPerConnection = 1000
    /// Seconds of one connection.
    package var connectionSeconds = 600.0
    /// Bytes a second that a body must arrive with, on average, once ``bodyRateGraceSeconds`` have passed.
    package var bodyRate = 500.0
    /// Seconds without a demand on the speed of a body.
    package var bodyRateGraceSeconds = 5.0
    /// Bytes a second that a client must take of a long answer, on average, once ``answerRateGraceSeconds`` have
    /// passed.
    ///
    /// 64 kbit/s: less than EDGE gives, and far more than an attacker takes who only wants to keep the memory occupied.
    package var answerRate = 8192.0
    /// Seconds without a demand on the speed of a reader: a phone that changes its cell is silent for some seconds.
    package var answerRateGraceSeconds = 10.0
    /// Seconds that a request waits for the handler, once with its head and once with its body; then it is a 503.
    package var suspensionSeconds = 20.0
    /// Requests that wait for the handler at once; more are a 503 (V-153).
    package var suspensions = 1020
    /// Bytes of an unwanted body that are read to keep the connection.
    package var drainedBody = 64 * 1024
    /// Event loops, each a thread; at least two.
    package var loops = max(2, sysconf(Int32(_SC_NPROCESSORS_ONLN)))

    /// The limits of a server on the network.
    package init() {}
}
