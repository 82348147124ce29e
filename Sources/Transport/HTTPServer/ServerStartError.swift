import Platform

/// Why a server could not start.
package enum ServerStartError: Error, Sendable, Equatable {
    /// The host is neither `localhost` nor a literal IPv4 or IPv6 address.
    case badHost(String)
    /// Another socket listens on the address.
    case addressInUse
    /// The machine has no such address.
    case addressNotAvailable
    /// The process has no permission for the port.
    case noPermission
    /// The system refused in another way.
    case system(call: String, code: Int32)
    /// libmicrohttpd could not start; its messages went to the observer.
    case library
}

extension ServerStartError {
    init(_ failure: NamedThread.Failure) { self = .system(call: "pthread_create", code: failure.code) }
}
