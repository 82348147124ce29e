import Glibc

/// A socket that listens on a port of 127.0.0.1 that the system has chosen, so that no other program can come first.
///
/// The caller closes it.
package func listenOnLoopback() throws(ChildProcess.Failure) -> (socket: Int32, port: Int) {
    let number = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    guard withLoopback(0, { bind(number, $0, $1) }) == 0, listen(number, 64) == 0,
        withUnsafeMutablePointer(
            to: &address,
            { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(number, $0, &length) }
            }) == 0
    else {
        let code = errno
        close(number)
        throw ChildProcess.Failure(description: "cannot listen: error \(code)")
    }
    return (number, Int(UInt16(bigEndian: address.sin_port)))
}

/// Lends an address of this machine.
package func withLoopback(_ port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let length = socklen_t(MemoryLayout<sockaddr_in>.size)
    return withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
    }
}
