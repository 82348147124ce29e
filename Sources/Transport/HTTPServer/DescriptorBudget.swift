extension ServerLimits {
    /// A server with fewer connections than this is useless.
    private static let leastUsefulConnections = 8

    /// How few connections it may be given: no fewer than ``sane`` makes of them, which is one for each loop.
    private var leastConnections: Int { min(sane.connections, max(Self.leastUsefulConnections, sane.loops)) }

    /// What a server needs in addition to its connections: the listening socket, and of each loop two, epoll and the
    /// one that wakes it.
    private var fixedDescriptors: Int { 1 + 2 * sane.loops }

    /// The descriptors that servers of these limits take at most.
    package static func descriptors(of servers: [ServerLimits]) -> Int {
        servers.reduce(0) { $0 + $1.fixedDescriptors + $1.sane.connections }
    }

    /// The same servers with as many connections as fit into this number of descriptors; nil if those are too few.
    ///
    /// Each gets a few, and the rest is divided as was wished.
    package static func fitting(_ servers: [ServerLimits], into descriptors: Int) -> [ServerLimits]? {
        guard Self.descriptors(of: servers) > descriptors else { return servers }
        let least = servers.map(\.leastConnections)
        let more = zip(servers, least).map { $0.sane.connections - $1 }
        let rest = descriptors - servers.reduce(0) { $0 + $1.fixedDescriptors } - least.reduce(0, +)
        guard rest >= 0 else { return nil }
        let wished = max(more.reduce(0, +), 1)
        return servers.indices.map { index in
            var limits = servers[index]
            limits.connections = least[index] + more[index] * rest / wished
            limits.suspensions = min(limits.suspensions, limits.connections)
            return limits
        }
    }

    /// How few descriptors are enough for these servers.
    package static func leastDescriptors(of servers: [ServerLimits]) -> Int {
        servers.reduce(0) { $0 + $1.fixedDescriptors + $1.leastConnections }
    }
}
