/// Everything of a request but its body.
public struct RequestHead: Sendable {
    /// What is asked.
    public var method: Method
    /// Of what.
    public var target: RequestTarget
    /// The field lines, in order.
    public var headers: HeaderFields
    /// The number of this request: letters and digits, in the log and in `X-Request-Id`.
    public var identifier: String
    /// The address of the client, without port.
    public var peer: String

    /// A request of these parts.
    public init(
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
