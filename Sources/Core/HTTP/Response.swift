/// An answer, whole: `Content-Length`, `Date` and `Connection` are the server's to add.
public struct Response: Sendable, Equatable {
    /// The status code.
    public var status: Status
    /// The field lines.
    public var headers: HeaderFields
    /// The content.
    ///
    /// For `HEAD` it is given too, and not sent.
    public var body: [UInt8]
    /// How many bytes of content are announced and never sent; the connection ends in their place.
    ///
    /// For servers that help to test clients: everybody else leaves it at 0.
    public var missing = 0

    /// An answer of these parts.
    public init(_ status: Status, headers: HeaderFields = HeaderFields(), body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}
