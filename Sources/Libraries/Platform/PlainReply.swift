/// The answer of a server of this package to a request of its own program, on this machine.
package struct PlainReply: Sendable, Equatable {
    /// The status; 0 if there was no status line.
    package let status: Int
    /// The body, without a newline at its end.
    package let body: String

    /// Sends a `GET`.
    ///
    /// - Parameters:
    ///   - target: path and query, ready for the request line.
    ///   - host: a literal address.
    ///   - port: the port of the server.
    ///   - layer: carries the bytes over the socket; nil sends them as they are.
    /// - Returns: the answer of the server.
    /// - Throws: the error of the system or the layer.
    package static func get(
        _ target: String, host: String, port: UInt16, layer: TCPExchange.Layer? = nil
    ) throws(SystemError) -> PlainReply {
        let name = host.contains(":") ? "[\(host)]" : host
        let request = "GET \(target) HTTP/1.1\r\nHost: \(name):\(port)\r\nConnection: close\r\n\r\n"
        return PlainReply(try TCPExchange.send(Array(request.utf8), host: host, port: port, layer: layer))
    }

    package init(status: Int, body: String) {
        self.status = status
        self.body = body
    }

    /// Takes apart an answer that was read to its end.
    package init(_ bytes: [UInt8]) {
        let text = String(decoding: bytes, as: UTF8.self)
        let parts = text.split(separator: " ", maxSplits: 2)
        status = parts.first?.hasPrefix("HTTP/1.") == true ? parts.dropFirst().first.flatMap { Int($0) } ?? 0 : 0
        let end = bytes.indices.first { bytes[$0...].starts(with: Array("\r\n\r\n".utf8)) } ?? bytes.endIndex
        let content = String(decoding: bytes[end...].dropFirst(4), as: UTF8.self)
        body = content.hasSuffix("\n") ? String(content.dropLast()) : content
    }
}
