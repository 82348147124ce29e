import Basics
import HTTP
import Synchronization

/// The numbers of open connections, in all and from each network, which decide whether another is accepted.
struct ConnectionSlots: ~Copyable, Sendable {
    private let open = Atomic<Int>(0)
    private let byNetwork: AddressCounts
    private let limits: ServerLimits

    init(_ limits: ServerLimits) {
        self.limits = limits
        byNetwork = AddressCounts(limit: limits.perAddress)
    }

    /// Returns whether another connection may be accepted while this many streams are open.
    func hasRoom(streams: Int) -> Bool {
        let open = open.load(ordering: .relaxed)
        return open < limits.connections && open - min(streams, limits.streams) < limits.connectionsOfRequests
    }

    /// Whether no connection is open, the accepted ones included of which the event loops do not know yet.
    var isEmpty: Bool { open.load(ordering: .relaxed) == 0 }

    /// Takes a slot for this address; returns false if its network has as many as it may have.
    func take(_ address: IPAddress) -> Bool {
        guard !limits.counts(address) || byNetwork.take(address.network) else { return false }
        open.add(1, ordering: .relaxed)
        return true
    }

    /// Releases the slot of a connection from this address.
    func release(_ address: IPAddress) {
        open.subtract(1, ordering: .relaxed)
        if limits.counts(address) { byNetwork.release(address.network) }
    }
}

extension ServerLimits {
    fileprivate func counts(_ address: IPAddress) -> Bool {
        perAddress > 0 && !unlimited.contains(address) && !isTrusted(address)
    }

    /// Returns whether the address is a proxy whose statements about its clients are trusted.
    func isTrusted(_ address: IPAddress) -> Bool { trustedProxies.contains(address) }
}

/// Counts by address: of the open connections of each network, and of the requests under way of each client of a proxy.
final class AddressCounts: Sendable {
    private let limit: Int
    private let counts = Mutex<[IPAddress: Int]>([:])

    /// Creates counts that stay at or below this limit; 0 is no limit.
    init(limit: Int) { self.limit = limit }

    /// Counts one more of this address; returns false if the address has as many as it may have.
    func take(_ address: IPAddress) -> Bool {
        counts.withLock { counts in
            guard limit == 0 || counts[address, default: 0] < limit else { return false }
            counts[address, default: 0] += 1
            return true
        }
    }

    func release(_ address: IPAddress) {
        counts.withLock { counts in
            let left = counts[address, default: 1] - 1
            counts[address] = left > 0 ? left : nil
        }
    }
}
