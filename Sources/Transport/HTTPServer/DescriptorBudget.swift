extension ServerLimits {
    /// A server with fewer connections than this is useless.
    private static let leastUsefulConnections = 8

    /// The fewest connections that the server may be given: no fewer than ``sane`` allows, which is one for each loop.
    private var leastConnections: Int { min(sane.connections, max(Self.leastUsefulConnections, sane.loops)) }

    /// The descriptors besides connections: epoll and its wakeup for each loop, and the listening socket and its own.
    private var fixedDescriptors: Int { 2 + 2 * sane.loops }

    /// Returns the most descriptors that servers of these limits take.
    package static func descriptors(of servers: [ServerLimits]) -> Int {
        servers.reduce(0) { $0 + $1.fixedDescriptors + $1.sane.connections }
    }

    /// Returns the same servers with connections that fit into these descriptors; nil if there would be too few.
    ///
    /// Each server gets a few connections, and the rest is divided in proportion to the limits.
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

    /// Returns the fewest descriptors that are enough for these servers.
    package static func leastDescriptors(of servers: [ServerLimits]) -> Int {
        servers.reduce(0) { $0 + $1.fixedDescriptors + $1.leastConnections }
    }
}
