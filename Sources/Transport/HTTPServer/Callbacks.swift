import CMicroHTTPD
private import Glibc
import Synchronization

// The functions that libmicrohttpd calls on its loops. Each is global, because a closure would belong to an actor.

/// Returns the object behind a pointer for which libmicrohttpd holds a reference.
func object<Object: AnyObject>(_ type: Object.Type, _ pointer: UnsafeMutableRawPointer?) -> Object? {
    guard let pointer = unsafe pointer else { return nil }
    return unsafe Unmanaged<Object>.fromOpaque(pointer).takeUnretainedValue()
}

/// Notes that a connection was opened or closed; the library closes the socket after the second call.
func connectionChanged(
    _ core: UnsafeMutableRawPointer?, _ handle: OpaquePointer?,
    _ context: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _ change: MHD_ConnectionNotificationCode
) {
    guard let context = unsafe context, let handle = unsafe handle else { return }
    switch change {
    case .CONNECTION_NOTIFY_STARTED:
        guard let core = unsafe object(ServerCore.self, core) else { return }
        let connection = unsafe ClientConnection(core: core, handle: handle)
        unsafe context.pointee = Unmanaged.passRetained(connection).toOpaque()
        core.connections.withLock { $0[ObjectIdentifier(connection)] = connection }
        connection.identity = core.renewedIdentity.withLock { $0 }
        unsafe connection.identity?.present(on: handle)
    case .CONNECTION_NOTIFY_CLOSED:
        guard let pointer = unsafe context.pointee else { return }
        unsafe context.pointee = nil
        let connection = unsafe Unmanaged<ClientConnection>.fromOpaque(pointer).takeRetainedValue()
        connection.core.remove(connection)
    @unknown default:
        break
    }
}

/// Takes the first line of a request, with the target as it was sent.
func targetReceived(
    _ core: UnsafeMutableRawPointer?, _ target: UnsafePointer<CChar>?, _ handle: OpaquePointer?
) -> UnsafeMutableRawPointer? {
    guard let handle = unsafe handle, let target = unsafe target else { return nil }
    let context = unsafe CMicroHTTPD_socket_context(handle)
    if let connection = unsafe object(ClientConnection.self, context) {
        unsafe connection.rawTargetStart = target
        connection.beginRequest(
            target: unsafe String(cString: target), size: unsafe strlen(target),
            hasZeroByte: unsafe CMicroHTTPD_is_whole(target) == 0)
    }
    unsafe CMicroHTTPD_hide_query(target)
    unsafe CMicroHTTPD_hide_cookies(handle)
    return unsafe context
}

/// Takes the head of a request, a piece of its body, or its end.
func requestReceived(
    _ core: UnsafeMutableRawPointer?, _ handle: OpaquePointer?, _ url: UnsafePointer<CChar>?,
    _ method: UnsafePointer<CChar>?, _ version: UnsafePointer<CChar>?, _ upload: UnsafePointer<CChar>?,
    _ size: UnsafeMutablePointer<Int>?, _ context: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
    guard let size = unsafe size, let connection = unsafe object(ClientConnection.self, context?.pointee) else {
        return .NO
    }
    let call = unsafe AccessCall(target: url, method: method, version: version, upload: upload, size: size)
    return unsafe connection.receive(call)
}

/// Notes that a request is over, also if it was broken off.
func requestCompleted(
    _ core: UnsafeMutableRawPointer?, _ handle: OpaquePointer?,
    _ context: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _ how: MHD_RequestTerminationCode
) {
    unsafe object(ClientConnection.self, context?.pointee)?.endRequest()
}

/// Passes on a message of the library.
func lineLogged(_ core: UnsafeMutableRawPointer?, _ format: UnsafePointer<CChar>?, _ line: UnsafePointer<CChar>?) {
    guard let core = unsafe object(ServerCore.self, core), let format = unsafe format, let line = unsafe line else {
        return
    }
    // The library logs these messages for every connection that we end, such as after a response in the middle of a
    // body, and for every stream whose client leaves.
    for usual in ["Application reported internal error", "Failed to send the chunked", "Failed to send the footers"] {
        guard unsafe strstr(format, usual) == nil else { return }
    }
    core.observe(.log(kind: unsafe String(cString: format), line: unsafe String(cString: line)))
}
