import Glibc
import Platform
import Support
import Synchronization

/// A server of plain TCP that sends exactly what a test gives it, on a thread for each connection.
final class RawServer: Sendable {
    /// One connection, whose request head was read.
    struct Connection: Sendable {
        let request: String
        fileprivate let descriptor: Int32

        func say(_ text: String) {
            let bytes = Array(text.utf8)
            _ = send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
        }

        /// Sends it one byte at a time until the peer closes.
        func drip(_ text: String, everyMilliseconds pause: UInt32) {
            for byte in text.utf8 {
                guard send(descriptor, [byte], 1, Int32(MSG_NOSIGNAL)) == 1 else { return }
                usleep(pause * 1000)
            }
        }

        /// Waits until the peer goes away.
        func waitForEnd() {
            var byte: UInt8 = 0
            while recv(descriptor, &byte, 1, 0) > 0 {}
        }
    }

    let port: UInt16
    private let listener: Int32
    private let isStopped = Atomic(false)
    private let served = Atomic(0)
    private let last = Mutex("")

    /// Starts a server; every connection gets `answer`, then is closed.
    init(_ answer: @escaping @Sendable (Connection) -> Void) {
        let (socket, number) = (try? listenOnLoopback()) ?? (-1, 0)
        (listener, port) = (socket, UInt16(number))
        _ = try? NamedThread.start("raw-server") { [self] in
            while true {
                let descriptor = accept(listener, nil, nil)
                guard descriptor >= 0 else {
                    // Closed here and not by `stop`: its number could belong to the next server's socket by now.
                    close(listener)
                    return
                }
                _ = try? NamedThread.start("raw-connection") { self.serve(descriptor, answer) }
            }
        }
    }

    /// Stops accepting, once: later the number of the socket may be that of another test's.
    func stop() {
        if !isStopped.exchange(true, ordering: .relaxed) { shutdown(listener, Int32(SHUT_RDWR)) }
    }

    var url: String { "http://127.0.0.1:\(port)/document" }
    var requests: Int { served.load(ordering: .sequentiallyConsistent) }
    var lastRequest: String { last.withLock { $0 } }

    private func serve(_ descriptor: Int32, _ answer: (Connection) -> Void) {
        var head: [UInt8] = []
        var byte: UInt8 = 0
        while !head.suffix(4).elementsEqual("\r\n\r\n".utf8), recv(descriptor, &byte, 1, 0) == 1 { head.append(byte) }
        let request = String(decoding: head, as: UTF8.self)
        last.withLock { $0 = request }
        served.add(1, ordering: .sequentiallyConsistent)
        answer(Connection(request: request, descriptor: descriptor))
        close(descriptor)
    }
}
