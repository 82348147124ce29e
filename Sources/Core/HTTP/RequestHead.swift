/// A request without its body.
package struct RequestHead: Sendable {
    package var method: Method
    package var target: RequestTarget
    package var headers: HeaderFields
    /// The number of this request: letters and digits, in the log and in `X-Request-Id`.
    package var identifier: String
    /// The address of the client, without port.
    package var peer: String

    package init(
        method: Method, target: RequestTarget, headers: HeaderFields = HeaderFields(), identifier: String = "0",
        peer: String = "127.0.0.1"
    ) {
        self.method = method
        self.target = target
        self.headers = headers
        self.identifier = identifier
        self.peer = peer
    }
}
