/// A document to fetch or another request to send, and the limits for it.
package struct FetchRequest: Sendable, Equatable {
    /// The address: `https://`, or `http://` if ``allowHTTP`` is true.
    package var url: String
    /// The longest time for name, connection and TLS together.
    package var connectTime: Duration
    /// The longest time for everything from the first look-up to the last byte (V-86).
    package var totalTime: Duration
    /// The longest body.
    package var maxBytes: Int
    /// A file of PEM certificates that are trusted instead of the machine's own, if given.
    package var caFile: String?
    /// Whether plain `http` is allowed.
    package var allowHTTP: Bool
    /// The method of the request.
    package var method = "GET"
    /// The type of content that is wanted.
    package var accept = "application/json"
    /// Whether the question is for a server of this package, on this machine or in a network for development.
    ///
    /// No proxy is asked and no certificate is checked then, because the question carries no secret.
    package var isForOwnServer = false
    /// More header fields, each as a line without its end.
    package var fields: [String] = []
    /// The content of the request, if it has one.
    package var content: String?

    /// Creates a request with the limits of key fetching: 2 s to connect, 5 s in all, 256 KiB.
    package init(
        url: String, connectTime: Duration = .seconds(2), totalTime: Duration = .seconds(5),
        maxBytes: Int = 256 * 1024, caFile: String? = nil, allowHTTP: Bool = false
    ) {
        self.url = url
        self.connectTime = connectTime
        self.totalTime = totalTime
        self.maxBytes = maxBytes
        self.caFile = caFile
        self.allowHTTP = allowHTTP
    }
}

/// The body of an answer with status 200, whole.
package struct FetchedDocument: Sendable, Equatable {
    /// The bytes as they came.
    package let body: [UInt8]
    /// `max-age` of `Cache-Control`, in seconds (RFC 9111 section 5.2.2.1).
    package let maxAge: Int?

    package init(body: [UInt8], maxAge: Int? = nil) {
        self.body = body
        self.maxAge = maxAge
    }
}
