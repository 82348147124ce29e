import HTTP

extension ResponseStream {
    /// Takes what there is to send, as a server does for a client who reads at once.
    package func read() -> String {
        var bytes = [UInt8](repeating: 0, count: unsent)
        let count = unsafe bytes.withUnsafeMutableBytes { unsafe take(into: $0) }
        drained()
        return String(decoding: bytes.prefix(count), as: UTF8.self)
    }

    /// Whether nothing is left to send, and nothing will come.
    package var isOver: Bool { if case .isOver = condition { true } else { false } }
}
