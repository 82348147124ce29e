private import Glibc

/// The service manager that started this program, such as systemd.
///
/// The program sends its state in datagrams to the socket that `NOTIFY_SOCKET` names (sd_notify(3)). Without that
/// variable, nobody wants to know the state. `LISTEN_FDS` is the number of sockets that the program inherits
/// (sd_listen_fds(3)).
package struct ServiceManager: Sendable {
    /// A state of the program that a service manager knows.
    package enum State: Sendable {
        /// The program serves: the first time at the end of its start, then at the end of each reload.
        case ready
        case reloading
        case stopping
        /// The program is not stuck. A program that says so too late is restarted.
        case alive
    }

    /// Half of the time after which a silent program is restarted; nil if the service manager does not watch it.
    package let watchdogPause: Duration?
    /// The descriptors that the service manager passed, which are sockets if it is configured well.
    package let sockets: [Int32]
    private let path: String?

    /// Reads the variables of the environment in which this program was started, and takes those of the sockets out of
    /// the environment: a child would take the descriptors for its own.
    package init(environment: [String: String]) {
        path = environment["NOTIFY_SOCKET"]
        let isMeant = environment["WATCHDOG_PID"].map { $0 == "\(getpid())" } ?? true
        let microseconds = environment["WATCHDOG_USEC"].flatMap { Int64($0) } ?? 0
        let isForUs = environment["LISTEN_PID"] == "\(getpid())"
        let count = isForUs ? environment["LISTEN_FDS"].flatMap { Int32($0) } ?? 0 : 0
        // After standard input, output and error.
        sockets = (1...1000).contains(count) ? Array(3..<3 + count) : []
        for name in ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"] { _ = unsafe unsetenv(name) }
        watchdogPause = path != nil && isMeant && microseconds > 0 ? .microseconds(microseconds / 2) : nil
    }

    /// Sends the state, which takes a second at most; does nothing without a service manager.
    package func tell(_ state: State) throws(SystemError) {
        guard let path else { return }
        let operation = "write to NOTIFY_SOCKET '\(path)'"
        guard var address = sockaddr_un(ofSocket: path) else {
            throw SystemError(operation: operation, reason: "it is no path and no abstract name of a socket")
        }
        let number = socket(AF_UNIX, Int32(bitPattern: SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard number >= 0 else { throw .last("make a socket") }
        let descriptor = FileDescriptor(takingOwnershipOf: number)
        // A manager that does not read must not hold the caller, which also waits for signals.
        var most = timeval(tv_sec: 1, tv_usec: 0)
        let size = socklen_t(MemoryLayout<timeval>.size)
        _ = unsafe setsockopt(descriptor.number, SOL_SOCKET, SO_SNDTIMEO, &most, size)
        let message = Array(state.message.utf8)
        // An abstract name ends with the size of the address, and would be another one with the zeros behind it.
        let addressSize = socklen_t(sockaddr_un.pathOffset + path.utf8.count + (path.hasPrefix("/") ? 1 : 0))
        let sent = unsafe withUnsafeBytes(of: &address) { bytes in
            let address = unsafe bytes.assumingMemoryBound(to: sockaddr.self).baseAddress
            return unsafe sendto(
                descriptor.number, message, message.count, 0, address, addressSize)
        }
        guard sent == message.count else { throw .last(operation) }
    }
}

extension ServiceManager.State {
    fileprivate var message: String {
        switch self {
        case .ready: "READY=1"
        // By the time, the service manager tells this reload from an earlier one.
        case .reloading: "RELOADING=1\nMONOTONIC_USEC=\(SystemTime.awakeNanoseconds / 1000)"
        case .stopping: "STOPPING=1"
        case .alive: "WATCHDOG=1"
        }
    }
}

extension sockaddr_un {
    fileprivate static var pathOffset: Int { MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 2 }

    /// The address of a path, or of an abstract name, which begins with `@`; nil for any other text.
    fileprivate init?(ofSocket path: String) {
        self.init()
        sun_family = sa_family_t(AF_UNIX)
        // The last byte stays 0.
        let sizes = 2..<MemoryLayout.size(ofValue: sun_path)
        guard path.hasPrefix("/") || path.hasPrefix("@"), sizes.contains(path.utf8.count) else { return nil }
        unsafe withUnsafeMutableBytes(of: &sun_path) { unsafe $0.copyBytes(from: path.utf8) }
        // The kernel writes the mark of an abstract name as 0.
        if path.hasPrefix("@") { sun_path.0 = 0 }
    }
}
