import Basics
import HTTP
import Synchronization

/// The number of requests under way for each client of the trusted proxies.
///
/// The counts are in parts with a lock each, so that the loops seldom wait for one another. Requests that come without a
/// proxy are not counted here.
final class RequestsByClient: Sendable {
    private final class Shard: Sendable {
        let counts = Mutex<[IPAddress: Int]>([:])
    }

    private let limit: Int
    private let shards = (0..<64).map { _ in Shard() }

    init(limit: Int) { self.limit = limit }

    /// Counts one more request of this client.
    ///
    /// Returns false if the client has as many as it may have.
    func begin(_ client: IPAddress) -> Bool {
        shard(of: client).counts.withLock { counts in
            guard limit == 0 || counts[client, default: 0] < limit else { return false }
            counts[client, default: 0] += 1
            return true
        }
    }

    /// Counts one request of this client less.
    func end(_ client: IPAddress) {
        shard(of: client).counts.withLock { counts in
            let left = counts[client, default: 1] - 1
            counts[client] = left > 0 ? left : nil
        }
    }

    private func shard(of client: IPAddress) -> Shard { shards[Int(UInt(bitPattern: client.hashValue) % 64)] }
}

extension ClientConnection {
    /// Notes the client whose request a trusted proxy passes on, and makes it the peer.
    ///
    /// Returns a fault if the client has too many requests. A proxy that names no client has no limit. Requests whose client
    /// is unclear share one limit, or an invented header would be the way around the limit.
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
