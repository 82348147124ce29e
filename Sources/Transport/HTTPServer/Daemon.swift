import CMicroHTTPD
import Glibc

/// A daemon of libmicrohttpd: event loops, to which connections are given.
///
/// The class is unchecked, because only a handle moves between threads. The thread that adds connections has ended
/// before another thread stops the daemon.
@safe
final class Daemon: @unchecked Sendable {
    private let handle: OpaquePointer
    /// The settings, to which the library keeps pointers; they own the texts of the identity.
    private let settings: UnsafeMutablePointer<CMicroHTTPD_settings>
    private let core: Unmanaged<ServerCore>

    init?(_ core: ServerCore, identity: TLSIdentity?) {
        let context = unsafe Unmanaged.passRetained(core)
        let settings = UnsafeMutablePointer<CMicroHTTPD_settings>.allocate(capacity: 1)
        unsafe settings.initialize(
            to: CMicroHTTPD_settings(
                context: context.toOpaque(), access: requestReceived, target: targetReceived,
                completed: requestCompleted, connection: connectionChanged, line: lineLogged,
                loops: UInt32(core.limits.loops), connections: UInt32(core.limits.connections),
                connection_memory: core.limits.connectionMemory,
                certificates: identity.flatMap { unsafe strdup($0.certificates) },
                key: identity.flatMap { unsafe strdup($0.key) }))
        guard let handle = unsafe CMicroHTTPD_start(settings) else {
            unsafe Self.free(settings, context)
            return nil
        }
        unsafe self.handle = handle
        unsafe self.settings = settings
        unsafe self.core = context
    }

    /// Gives a connection to one of the loops; if the loop cannot take it, the socket is closed.
    func add(_ socket: Int32, _ address: UnsafePointer<sockaddr>, _ size: socklen_t) -> Bool {
        unsafe MHD_add_connection(handle, socket, address, size) == .YES
    }

    /// Ends all loops and connections; no connection may be suspended, and none may be added afterwards.
    func stop() {
        unsafe MHD_stop_daemon(handle)
    }

    deinit { unsafe Self.free(settings, core) }

    private static func free(
        _ settings: UnsafeMutablePointer<CMicroHTTPD_settings>, _ core: Unmanaged<ServerCore>
    ) {
        unsafe Glibc.free(UnsafeMutablePointer(mutating: settings.pointee.certificates))
        unsafe Glibc.free(UnsafeMutablePointer(mutating: settings.pointee.key))
        unsafe settings.deallocate()
        unsafe core.release()
    }
}

extension ServerLimits {
    /// The limits in the ranges that libmicrohttpd takes.
    var bounded: ServerLimits {
        var limits = self
        limits.loops = min(max(loops, 2), 256)
        limits.connections = min(max(connections, limits.loops), 1_000_000)
        return limits
    }
}

/// The version of the libmicrohttpd that is loaded.
package var libmicrohttpdVersion: String { unsafe String(cString: MHD_get_version()) }

/// The certificate chain and private key of a TLS server.
package struct TLSIdentity: Sendable, Equatable {
    /// The certificates in PEM, the server's own first.
    package let certificates: String
    /// The private key of the server in PEM.
    package let key: String

    package init(certificates: String, key: String) {
        self.certificates = certificates
        self.key = key
    }
}

/// An identity that GnuTLS has read, for the connections that a running server accepts from now on.
///
/// The class is unchecked, because only a handle moves between threads, and GnuTLS does not change what it has read.
@safe
package final class RenewedIdentity: @unchecked Sendable {
    private let credentials: gnutls_certificate_credentials_t

    /// Reads an identity; nil if GnuTLS cannot use it.
    package init?(_ identity: TLSIdentity) {
        guard let credentials = unsafe CMicroHTTPD_credentials(identity.certificates, identity.key) else { return nil }
        unsafe self.credentials = credentials
    }

    deinit { unsafe gnutls_certificate_free_credentials(credentials) }

    /// Shows this identity on a connection that has just been opened, if the connection has TLS.
    func present(on connection: OpaquePointer) { unsafe CMicroHTTPD_use_credentials(connection, credentials) }
}
