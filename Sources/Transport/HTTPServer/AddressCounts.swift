import Basics
import Synchronization

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

    /// Counts one of this address less.
    func release(_ address: IPAddress) {
        counts.withLock { counts in
            let left = counts[address, default: 1] - 1
            counts[address] = left > 0 ? left : nil
        }
    }
}
