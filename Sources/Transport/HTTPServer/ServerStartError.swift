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
    /// The descriptor that the service manager passed is no TCP socket that listens.
    case notListening(descriptor: Int32)
    /// The system refused in another way.
    case system(call: String, code: Int32)
    /// libmicrohttpd could not start; its messages went to the observer.
    case library
}

extension ServerStartError {
    init(_ failure: NamedThread.Failure) { self = .system(call: "pthread_create", code: failure.code) }

    /// For the operator: what is wrong, and what to do.
    package var message: String {
        switch self {
        case .badHost(let host): "'\(host)' is not an address"
        case .addressInUse: "another program listens there; stop it, or choose another port"
        case .addressNotAvailable: "this machine has no such address"
        case .noPermission:
            "ports below 1024 need permission; choose another port, or allow these ports to everyone on this machine: "
                + "sudo sysctl net.ipv4.ip_unprivileged_port_start=80"
        case .notListening(let descriptor):
            "descriptor \(descriptor) is no TCP socket that listens; pass only those of ListenStream= with an address "
                + "and a port"
        case .system(let call, let code): "\(SystemError(code: code, operation: call))"
        case .library: "libmicrohttpd could not start; the lines before this one say why"
        }
    }
}
