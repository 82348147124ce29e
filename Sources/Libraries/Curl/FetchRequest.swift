import Basics
private import CCurl

/// A document to fetch or another request to send, and the limits for it.
package struct FetchRequest: Sendable, Equatable {
    /// The address: `https://`, or `http://` if ``allowHTTP`` is true.
    package var url: String
    /// The longest time for name, connection and TLS together.
    package var connectTime: Duration
    /// The longest time for everything from the first look-up to the last byte (V-86).
    package var totalTime: Duration
    package var maxBytes: Int
    /// A file of PEM certificates that are trusted instead of the machine's own, if given.
    package var caFile: String?
    package var allowHTTP: Bool
    package var method = "GET"
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

/// Returns the host to which libcurl would connect for a URL; nil if libcurl refuses the URL.
///
/// The host is in lower case, and an IPv6 address is in brackets. libcurl has its own parser, which takes more URLs
/// than ``WebAddress``, so a decision about an address holds only if both name the same host.
package func fetchedHost(of url: String) -> String? {
    // libcurl would stop at a zero byte, and encode characters that are not ASCII.
    guard url.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }), let handle = unsafe curl_url() else { return nil }
    defer { unsafe curl_url_cleanup(handle) }
    guard unsafe curl_url_set(handle, CURLUPART_URL, url, UInt32(CURLU_DISALLOW_USER)) == CURLUE_OK else { return nil }
    var host: UnsafeMutablePointer<CChar>?
    guard unsafe curl_url_get(handle, CURLUPART_HOST, &host, 0) == CURLUE_OK, let host = unsafe host else { return nil }
    defer { unsafe curl_free(host) }
    return unsafe String(cString: host).lowercasedASCII
}

extension FetchRequest {
    /// Returns the address if it may be fetched: it has no fragment, and uses https unless plain http is allowed.
    func address() throws(FetchError) -> WebAddress {
        guard let address = WebAddress(url), !address.hasFragment, let host = fetchedHost(of: url),
            address.isHost(host)
        else { throw .badAddress("not an http or https address") }
        guard address.isEncrypted || allowHTTP else { throw .plainHTTPRefused }
        return address
    }
}

extension WebAddress {
    /// Returns whether a host is the host of this address, even if they write an IP address differently.
    fileprivate func isHost(_ other: String) -> Bool {
        host == other || IPAddress(bracketed: host).map { $0 == IPAddress(bracketed: other) } ?? false
    }
}
