/// A complete response; only the server adds `Content-Length`, `Date` and `Connection`.
package struct Response: Sendable {
    package var status: Status
    package var headers: FieldLines
    /// The content, also for `HEAD`, which sends none of it.
    package var body: [UInt8]
    /// An object that is kept until the content is sent or given up, such as the lease of its memory.
    package var kept: (any AnyObject & Sendable)?

    package init(_ status: Status, headers: FieldLines = FieldLines(), body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// Creates a response of plain text, which no cache keeps.
    package init(_ status: Status, headers: FieldLines = FieldLines(), text: String) {
        self.init(status, headers: headers, body: Array(text.utf8))
        self.headers.append("Content-Type", "text/plain; charset=utf-8")
        self.headers.append("Cache-Control", "no-store")
    }
}
