import HTTP

extension ResponseStream {
    /// Takes what there is to send, as a server does for a client who reads at once.
    package func read() -> String {
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = unsafe piece.withUnsafeMutableBytes { unsafe take(into: $0) }
            guard count > 0 else { break }
            bytes += piece.prefix(count)
        }
        drained()
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Whether something waits to be sent.
    package var hasContent: Bool { if case .hasContent = condition(isStopping: false) { true } else { false } }

    /// Whether nothing is left to send, and nothing will come.
    package var isOver: Bool { if case .isOver = condition(isStopping: false) { true } else { false } }
}
