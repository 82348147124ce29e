import HTTPServer

/// The libmicrohttpd of this process, and what its versions answer differently, as SECURITY.md lists.
enum Library {
    static let isOne = !libmicrohttpdVersion.hasPrefix("0.")

    /// Whether the library takes the end of a chunk extension for the first byte of the chunk.
    static let misreadsExtensions = isOne
    /// Whether the library refuses blanks after a `Content-Length`, and would misread them after a `Transfer-Encoding`.
    static let refusesBlanksInFraming = !isOne
    /// How many empty lines before a request the library skips; at one more it closes the connection.
    static let emptyLines = isOne ? 1 : .max

    /// The status by libmicrohttpd 1.0 where 0.9.75 has another; nil for a connection that closes unanswered.
    private static let statusesOfOne: [String: Int?] = [
        "a NUL byte in the target": nil,
        "a NUL byte at the end of the target": nil,
        "a NUL byte in the query": nil,
        "a NUL byte and a version in the target": nil,
        "a NUL byte in the method": nil,
        "another method and a word after the version": nil,
        "the length that means unknown": 413,
        "a chunk extension that fills the memory": 413,
    ]

    private static let endsOfOne = [
        "two spaces after the target", "a blank in a target of another host", "a blank in an absolute target",
    ]

    /// The status of a request, which is this one by 0.9.75.
    static func status(of name: String, _ status: Int) -> Int? {
        isOne ? statusesOfOne[name] ?? status : status
    }

    /// Whether the connection stays after a request that 0.9.75 refuses at the end of its head.
    static func keepsConnection(after name: String) -> Bool { !isOne || !endsOfOne.contains(name) }
}
