import Basics
import HTTP
import HTTPServer
import Platform
import Settings
import TaskAPI

/// The addresses of the settings, bound: the ports are reserved, and the system refuses connections to them.
///
/// Sockets of the service manager are in the place of the addresses for people. They listen already.
struct BoundAddresses {
    let servers: [BoundAddress]
    let operators: BoundAddress?

    init(_ settings: ServerSettings, _ handover: Handover) throws(OperatorError) {
        servers =
            handover.sockets.isEmpty
            ? try settings.listen.map { (address) throws(OperatorError) in
                try BoundAddress(address, "TASKS_LISTEN", handover, besides: settings.listen)
            } : try handover.sockets.map(BoundAddress.init(inheriting:))
        operators = try settings.adminListen.map { (address) throws(OperatorError) in
            try BoundAddress(address, "TASKS_ADMIN_LISTEN", handover)
        }
    }

    /// The number of sockets.
    var count: Int { servers.count + (operators == nil ? 0 : 1) }
}

/// An address on which a server can begin to listen.
struct BoundAddress {
    private let wanted: ListenAddress
    private let setting: String
    private let socket: ServerSocket

    init(
        _ address: ListenAddress, _ setting: String, _ handover: Handover, besides others: [ListenAddress] = []
    ) throws(OperatorError) {
        wanted = address
        self.setting = setting
        socket = try rethrowing(as: { OperatorError(address, setting, $0) }) { () throws(OperatorError) in
            try handover.waiting(for: setting, while: { $0 == .addressInUse }) { () throws(OperatorError) in
                try ServerSocket(
                    bindingTo: address.host, port: address.port, onlyIPv6: address.leavesIPv4(to: others))
            }
        }
    }

    init(inheriting descriptor: Int32) throws(OperatorError) {
        setting = "LISTEN_FDS"
        socket = try rethrowing(as: { OperatorError("LISTEN_FDS: \($0.message)") }) {
            () throws(OperatorError) in try ServerSocket(inheriting: descriptor)
        }
        wanted = ListenAddress(host: socket.host, port: socket.port)
    }

    /// The address with the real port.
    var address: ListenAddress { ListenAddress(host: wanted.host, port: socket.port) }

    func listen(
        _ limits: ServerLimits, _ identity: TLSIdentity?, _ handler: any RequestHandler, _ observation: Observation,
        _ origins: CrossOrigin = .only([]), below base: String = ""
    ) throws(OperatorError) -> HTTPServer {
        try rethrowing(as: { OperatorError(wanted, setting, $0) }) { () throws(OperatorError) in
            try HTTPServer(
                listeningOn: socket, limits: limits, tls: identity, handler: handler,
                refusal: { observation.refuse($0, $1, origins, below: base) },
                observe: { observation.observe($0) })
        }
    }
}

extension OperatorError {
    fileprivate init(_ address: ListenAddress, _ setting: String, _ error: OperatorError) {
        self.init("\(setting): cannot listen on \(address): \(error.message)")
    }
}
