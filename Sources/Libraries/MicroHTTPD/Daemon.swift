internal import CMicroHTTPD
private import Glibc

/// libmicrohttpd at work.
///
/// Unchecked: what moves between threads is a handle, whose calls are made by the owner's lock one at a time.
@safe
final class Daemon: @unchecked Sendable {
    private let handle: OpaquePointer
    private let settings: UnsafeMutablePointer<CMicroHTTPD_settings>
    private let core: Unmanaged<ServerCore>
    private let socket: Int32
    private let identity: PinnedIdentity?

    /// Starts on a socket, which it owns from then on.
    init?(_ core: ServerCore, socket: Int32, identity: PinnedIdentity? = nil) {
        let context = unsafe Unmanaged.passRetained(core)
        let settings = UnsafeMutablePointer<CMicroHTTPD_settings>.allocate(capacity: 1)
        unsafe settings.initialize(
            to: CMicroHTTPD_settings(
                context: context.toOpaque(), access: requestReceived, target: targetReceived,
                completed: requestCompleted, connection: connectionChanged, line: lineLogged, socket: socket,
                loops: UInt32(core.limits.loops), connections: UInt32(core.limits.connections),
                per_address: UInt32(core.limits.perAddress), connection_memory: core.limits.connectionMemory,
                certificates: identity?.certificates, key: identity?.key))
        guard let handle = unsafe CMicroHTTPD_start(settings) else {
            unsafe settings.deallocate()
            unsafe context.release()
            return nil
        }
        unsafe self.handle = handle
        unsafe self.settings = settings
        unsafe self.core = context
        self.socket = socket
        self.identity = identity
    }

    /// Takes no more connections; the open ones go on.
    ///
    /// Not by MHD_quiesce_daemon: it and a loop may both take the socket out of the loop's epoll set, and the second of them
    /// aborts the process (0.9.75). Instead something on which nothing ever happens takes the place of the socket, which
    /// the system closes and takes out of every set by itself.
    func quiesce() {
        let nothing = CMicroHTTPD_nothing()
        guard nothing >= 0 else {
            _ = shutdown(socket, Int32(SHUT_RDWR))
            return
        }
        _ = dup2(nothing, socket)
        _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
        _ = close(nothing)
    }

    /// Ends all loops and connections, of a quiesced daemon; none may be suspended.
    func stop() {
        // Closes the socket's descriptor, too.
        unsafe MHD_stop_daemon(handle)
    }

    deinit {
        unsafe settings.deallocate()
        unsafe core.release()
    }
}

extension ServerLimits {
    /// The limits in the ranges that libmicrohttpd takes.
    var sane: ServerLimits {
        var limits = self
        limits.loops = min(max(loops, 2), 256)
        limits.connections = min(max(connections, limits.loops), 1_000_000)
        limits.perAddress = min(max(perAddress, 0), 1_000_000)
        limits.connectionMemory = min(max(connectionMemory, 1024), 1 << 24)
        limits.fields = max(fields, 1)
        limits.drainedBody = max(drainedBody, 0)
        return limits
    }
}
