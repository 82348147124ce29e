package import Basics
private import Glibc
import HTTP

/// The limits of a server: how much it accepts, and how long it waits (V-140, V-141, V-145).
package struct ServerLimits: Sendable, Equatable {
    /// The most connections at once; more wait in the backlog of the system.
    package var connections = 1020
    /// The most connections at once from one address of IPv4 or one /64 of IPv6, and the most requests at once of one
    /// client of a trusted proxy; 0 is no limit.
    package var perAddress = 0
    /// Addresses that may have any number of connections.
    package var unlimited: [IPAddressRange] = []
    /// Proxies whose statements about their clients are trusted; they may have any number of connections, too.
    package var trustedProxies: [IPAddressRange] = []
    /// The bytes for the header block of a request; a longer one gets a 431.
    package var connectionMemory = 12 * 1024
    /// The most field lines of a request; a request with more gets a 431.
    package var fields = 100
    /// The longest time for the header block, in seconds.
    package var headerSeconds = 10.0
    /// The longest time for the body, in seconds.
    package var bodySeconds = 30.0
    /// The longest time for a request, in seconds, from its first line to the last byte of its answer.
    package var requestSeconds = 60.0
    /// The longest time between two requests, in seconds.
    package var idleSeconds = 15.0
    /// The most requests of one connection.
    package var requestsPerConnection = 1000
    /// The longest time of one connection, in seconds.
    package var connectionSeconds = 600.0
    /// The bytes a second at which a body must arrive, on average, once ``bodyRateGraceSeconds`` have passed.
    package var bodyRate = 500.0
    /// The seconds without a demand on the speed of a body.
    package var bodyRateGraceSeconds = 5.0
    /// The bytes a second at which a client must read a long answer, on average, after ``answerRateGraceSeconds``.
    ///
    /// 64 kbit/s are less than EDGE gives, and far more than an attacker takes who only wants to keep memory occupied.
    package var answerRate = 8192.0
    /// The seconds without a demand on the speed of a reader: a phone that changes its cell is silent for some seconds.
    package var answerRateGraceSeconds = 10.0
    /// The seconds that a request waits for the handler, once with its head and once with its body, before a 503.
    package var suspensionSeconds = 20.0
    /// The most requests that wait for the handler at once; more get a 503 (V-153).
    package var suspensions = 1020
    /// The most bytes of an unwanted body that are read to keep the connection.
    package var drainedBody = 64 * 1024
    /// The number of event loops, each a thread; at least two.
    package var loops = max(2, sysconf(Int32(_SC_NPROCESSORS_ONLN)))

    /// Creates the limits of a server on the network.
    package init() {}
}
