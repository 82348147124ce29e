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
