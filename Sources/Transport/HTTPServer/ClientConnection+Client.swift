import Basics
import HTTP

extension ClientConnection {
    /// Makes the client whose request a trusted proxy passes on the peer, or returns a fault if it has too many
    /// requests.
    ///
    /// A proxy that names no client has no limit. Requests whose client is unclear share one limit, or an invented
    /// header would be the way around the limit.
    func noteClient(_ headers: HeaderSection, _ peer: inout String) -> HTTPFault? {
        let client: IPAddress
        switch ForwardedClient(in: headers, trusting: core.limits.trustedProxies) {
        case .none: return nil
        case .unclear: client = address
        case .client(let address, let text):
            client = address.network
            peer = text
        }
        guard core.requestsByClient.take(client) else { return .tooManyAtOnce }
        self.client = client
        return nil
    }

    func forgetClient() {
        guard let client else { return }
        core.requestsByClient.release(client)
        self.client = nil
    }
}
