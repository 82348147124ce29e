import Basics
import CMicroHTTPD
import Glibc
import HTTP
import Platform
import Synchronization

/// The one thread that accepts connections and gives them to the event loops.
///
/// Without a free descriptor, the library's own loops would try again at once. They would also divide the limit of
/// connections, and may abort when the listening socket is taken away.
final class Acceptor: Sendable {
    /// The microseconds to wait when no connection can be accepted now.
    private static let pause: UInt32 = 20_000

    private let core: ServerCore
    private let daemon: Daemon
    private let socket: ServerSocket
    /// A closure that runs when all slots are taken, so that peers that have disconnected are found sooner.
    private let onFull: @Sendable () -> Void
    private let isStopped = Atomic<Bool>(false)
    private let thread = Mutex<NamedThread?>(nil)

    init(_ core: ServerCore, _ daemon: Daemon, _ socket: ServerSocket, onFull: @escaping @Sendable () -> Void) {
        self.core = core
        self.daemon = daemon
        self.socket = socket
        self.onFull = onFull
    }

    func start() throws(SystemError) {
        let started = try NamedThread.start("http-accept") { [self] in run() }
        thread.withLock { $0 = started }
    }

    /// Accepts the connections that wait, and then no more.
    ///
    /// Connections in a socket that other processes hold, too, are left to them.
    func stop() {
        isStopped.store(true, ordering: .sequentiallyConsistent)
        socket.wake()
        thread.withLock { $0.take() }?.join()
        socket.close()
    }

    private func run() {
        while !isStopped.load(ordering: .sequentiallyConsistent) {
            guard core.slots.hasRoom else {
                makeRoom(.connections)
                continue
            }
            if let code = accept() { pauseIfNeeded(code) }
        }
        if !socket.isShared { acceptWaiting() }
        socket.close()
    }

    /// Ends an idle connection when another one wants to be accepted and cannot, or waits a while.
    private func makeRoom(_ shortage: Shortage) {
        socket.wait()
        if isStopped.load(ordering: .sequentiallyConsistent) { return }
        if !core.endIdlestConnection() {
            core.observe(.waiting(shortage))
            onFull()
        } else {
            // The loop usually frees the slot sooner.
            for _ in 0..<20 where !core.slots.hasRoom { _ = usleep(Self.pause / 20) }
            if shortage == .connections { return }
        }
        _ = usleep(Self.pause)
    }

    /// Accepts the connections that clients see as open, because the system resets them when the socket is closed.
    ///
    /// The backlog is the most that can have waited when the stop began.
    private func acceptWaiting() {
        for _ in 0..<SOMAXCONN {
            guard core.slots.hasRoom, accept() != EAGAIN else { return }
        }
    }

    /// Accepts one connection; returns the error number if there is none.
    private func accept() -> Int32? {
        var address = sockaddr_storage()
        var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return unsafe withUnsafeMutablePointer(to: &address) { storage in
            unsafe storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                let connection = unsafe CMicroHTTPD_accept(socket.descriptor, address, &size)
                guard connection >= 0 else { return errno }
                unsafe add(connection, address, size)
                return nil
            }
        }
    }

    private func add(_ connection: Int32, _ address: UnsafePointer<sockaddr>, _ size: socklen_t) {
        let source = unsafe IPAddress(of: address)
        guard core.slots.take(source) else {
            core.refused.add(1, ordering: .relaxed)
            core.observe(.refused(peer: source.text))
            _ = Glibc.close(connection)
            return
        }
        if unsafe !daemon.add(connection, address, size) { core.slots.release(source) }
    }

    /// Waits if the next try would fail, too, but not if one client disconnected before it was accepted.
    private func pauseIfNeeded(_ code: Int32) {
        switch code {
        case EAGAIN: socket.wait()
        case EINTR, ECONNABORTED, EPROTO, EPERM: return
        default: makeRoom(.system(code))
        }
    }
}
