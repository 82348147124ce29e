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
    /// What the server keeps until the content is sent or given up, such as the lease of its memory.
    public var kept: KeptObject?

    /// An answer of these parts.
    public init(_ status: Status, headers: HeaderFields = HeaderFields(), body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}

/// An object that is kept for the sake of its end.
public struct KeptObject: Sendable, Equatable {
    private let object: any AnyObject & Sendable

    /// Keeps this object.
    public init(_ object: any AnyObject & Sendable) {
        self.object = object
    }

    /// Whether both keep the same object.
    public static func == (left: KeptObject, right: KeptObject) -> Bool {
        left.object === right.object
    }
}
