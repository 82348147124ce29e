import Basics
import HTTP
import Synchronization

/// How many requests are under way of each client of the trusted proxies.
///
/// In parts with a lock each, so that the loops seldom wait for one another; requests that come without a proxy use
/// none of them.
final class RequestsByClient: Sendable {
    private final class Shard: Sendable {
        let counts = Mutex<[IPAddress: Int]>([:])
    }

    private let limit: Int
    private let shards = (0..<64).map { _ in Shard() }

    init(limit: Int) { self.limit = limit }

    /// A request of this client begins; whether it may.
    func begin(_ client: IPAddress) -> Bool {
        shard(of: client).counts.withLock { counts in
            guard limit == 0 || counts[client, default: 0] < limit else { return false }
            counts[client, default: 0] += 1
            return true
        }
    }

    /// A request of this client is over.
    func end(_ client: IPAddress) {
        shard(of: client).counts.withLock { counts in
            let left = counts[client, default: 1] - 1
            counts[client] = left > 0 ? left : nil
        }
    }

    private func shard(of client: IPAddress) -> Shard { shards[Int(UInt(bitPattern: client.hashValue) % 64)] }
}

extension ClientConnection {
    /// Notes whose request a trusted proxy passes on, and makes it the peer; why it may not begin, if it may not.
    ///
    /// Where the proxy names none, it is its own client: not bounded if it says nothing of any client, and bounded
    /// with all others of which it is unclear, or inventing a header would be the way around the bound.
    func noteClient(_ headers: HeaderSection, _ peer: inout String) -> HTTPFault? {
        let client: IPAddress
        switch ForwardedClient(in: headers, trusting: core.limits.trustedProxies) {
        case .none: return nil
        case .unclear: client = address
        case .client(let address, let text):
            client = address.network
            peer = text
        }
        guard core.requestsByClient.begin(client) else { return .tooManyAtOnce }
        self.client = client
        return nil
    }

    func forgetClient() {
        guard let client else { return }
        core.requestsByClient.end(client)
        self.client = nil
    }
}
