import Basics
import HTTP
import Synchronization

/// The numbers of open connections and of requests under way, in all and by address, which decide about the next one.
///
/// A stream is counted as a stream only: while it lasts, its connection does not count for its network, and its request
/// not for the client that a proxy names.
struct ConnectionSlots: ~Copyable, Sendable {
    private let open = Atomic<Int>(0)
    private let openStreams = Atomic<Int>(0)
    private let byNetwork: AddressCounts
    private let byClient: AddressCounts
    private let limits: ServerLimits

    init(_ limits: ServerLimits) {
        self.limits = limits
        byNetwork = AddressCounts(limit: limits.perAddress)
        byClient = AddressCounts(limit: limits.perAddress)
    }

    /// The responses under way whose content is made while it is sent.
    var streams: Int { openStreams.load(ordering: .relaxed) }

    /// Whether another connection may be accepted.
    var hasRoom: Bool {
        let open = open.load(ordering: .relaxed)
        return open < limits.connections && open - min(streams, limits.streams) < limits.connectionsOfRequests
    }

    /// Whether no connection is open, not even an accepted one of which the event loops do not know yet.
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

    /// Takes a request of a client that a trusted proxy names; returns false if the client has as many as it may have.
    func takeRequest(of client: IPAddress) -> Bool { byClient.take(client) }

    func releaseRequest(of client: IPAddress) { byClient.release(client) }

    /// Counts a connection from this address as that of a stream; its request must be released.
    func beginStream(from address: IPAddress) {
        openStreams.add(1, ordering: .relaxed)
        if limits.counts(address) { byNetwork.release(address.network) }
    }

    /// Counts the connection of a stream for its network again, also if others have taken all places meanwhile.
    func endStream(from address: IPAddress) {
        openStreams.subtract(1, ordering: .relaxed)
        if limits.counts(address) { byNetwork.add(address.network) }
    }
}

extension ServerLimits {
    fileprivate func counts(_ address: IPAddress) -> Bool {
        perAddress > 0 && !unlimited.contains(address) && !isTrusted(address)
    }

    /// Returns whether the address is a proxy whose statements about its clients are trusted.
    func isTrusted(_ address: IPAddress) -> Bool { trustedProxies.contains(address) }
}

/// Counts by address: the open connections of each network, or the requests under way of each client of a proxy.
private struct AddressCounts: ~Copyable, Sendable {
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

    func add(_ address: IPAddress) { counts.withLock { $0[address, default: 0] += 1 } }

    func release(_ address: IPAddress) {
        counts.withLock { counts in
            let left = counts[address, default: 1] - 1
            counts[address] = left > 0 ? left : nil
        }
    }
}
