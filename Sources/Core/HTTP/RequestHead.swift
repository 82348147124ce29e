/// Everything of a request but its body.
package struct RequestHead: Sendable {
    /// What is asked.
    package var method: Method
    /// Of what.
    package var target: RequestTarget
    /// The field lines, in order.
    package var headers: HeaderFields
    /// The number of this request: letters and digits, in the log and in `X-Request-Id`.
    package var identifier: String
    /// The address of the client, without port.
    package var peer: String

    /// A request of these parts.
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
