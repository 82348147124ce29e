import Basics
import HTTP
import HTTPServer

extension HTTPServer {
    /// Binds to the address, listens on it and serves.
    ///
    /// The host is a literal IPv4 or IPv6 address; see
    /// ``init(listeningOn:limits:tls:handler:refusal:observe:)``.
    package convenience init(
        host: String = "127.0.0.1", port: UInt16, limits: ServerLimits = ServerLimits(), tls: TLSIdentity? = nil,
        handler: any RequestHandler,
        refusal: @escaping @Sendable (HTTPFault, RequestHead?) -> Response = HTTPFault.refuse,
        observe: @escaping @Sendable (ServerEvent) -> Void = { _ in }
    ) throws(OperatorError) {
        try self.init(
            listeningOn: try ServerSocket(bindingTo: host, port: port), limits: limits, tls: tls, handler: handler,
            refusal: refusal, observe: observe)
    }
}
