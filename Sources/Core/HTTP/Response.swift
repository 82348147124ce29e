/// An answer, whole: `Content-Length`, `Date` and `Connection` are the server's to add.
package struct Response: Sendable, Equatable {
    /// The status code.
    package var status: Status
    /// The field lines.
    package var headers: HeaderFields
    /// The content.
    ///
    /// For `HEAD` it is given too, and not sent.
    package var body: [UInt8]
    /// How many bytes of content are announced and never sent; the connection ends in their place.
    ///
    /// For servers that help to test clients: everybody else leaves it at 0.
    package var missing = 0
    /// What the server keeps until the content is sent or given up, such as the lease of its memory.
    package var kept: KeptObject?

    /// An answer of these parts.
    package init(_ status: Status, headers: HeaderFields = HeaderFields(), body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}

/// An object that is kept for the sake of its end.
package struct KeptObject: Sendable, Equatable {
    private let object: any AnyObject & Sendable

    /// Keeps this object.
    package init(_ object: any AnyObject & Sendable) {
        self.object = object
    }

    /// Whether both keep the same object.
    package static func == (left: KeptObject, right: KeptObject) -> Bool {
        left.object === right.object
    }
}
