/// A request without its body; a class, so that the connection, the handler and its later work share one copy.
package final class RequestHead: Sendable {
    package let method: Method
    package let target: RequestTarget
    package let headers: HeaderSection
    /// The number of this request: letters and digits, in the log and in `X-Request-Id`.
    package let identifier: String
    /// The address of the client, without port.
    package let peer: String

    package init(
        method: Method, target: RequestTarget, headers: HeaderSection = HeaderSection(bytes: [], lines: []),
        identifier: String = "0", peer: String = "127.0.0.1"
    ) {
        self.method = method
        self.target = target
        self.headers = headers
        self.identifier = identifier
        self.peer = peer
    }
}
