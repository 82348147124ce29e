private import CCurl

/// The parts of an `http` or `https` address, as the library that will fetch it understands them.
///
/// The same parser decides where a request goes and which host an address names, so the two cannot disagree.
package struct FetchAddress: Sendable, Equatable {
    /// `http` or `https`.
    package let scheme: String
    /// The host in lower case, an IPv6 address in its brackets.
    package let host: String
    /// The port, also when it is the scheme's own.
    package let port: String
    /// The path, from its `/`.
    package let path: String
    /// What stands behind `?`.
    package let query: String?

    /// The parts of an address; nothing for one with user, password or fragment, or with another scheme.
    package init?(_ text: String) {
        guard let handle = unsafe curl_url() else { return nil }
        defer { unsafe curl_url_cleanup(handle) }
        // curl would stop at a zero byte, and encode what is not ASCII.
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return nil }
        guard unsafe curl_url_set(handle, CURLUPART_URL, text, UInt32(CURLU_DISALLOW_USER)) == CURLUE_OK else {
            return nil
        }
        let fragment = unsafe part(handle, CURLUPART_FRAGMENT)
        guard let scheme = unsafe part(handle, CURLUPART_SCHEME)?.lowercased(), ["http", "https"].contains(scheme),
            let host = unsafe part(handle, CURLUPART_HOST)?.lowercased(),
            let port = unsafe part(handle, CURLUPART_PORT, UInt32(CURLU_DEFAULT_PORT)), fragment == nil
        else { return nil }
        self.scheme = scheme
        self.host = host
        self.port = port
        path = unsafe part(handle, CURLUPART_PATH) ?? "/"
        query = unsafe part(handle, CURLUPART_QUERY)
    }

    /// Whether the host is this machine: `localhost`, `127.0.0.0/8` or `[::1]`.
    package var isLoopback: Bool {
        if host == "localhost" || host == "[::1]" { return true }
        let numbers = host.split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }
        return numbers.count == 4 && numbers[0] == 127 && !numbers.contains(nil)
    }

    /// Whether scheme, host and port are the other's.
    package func isSameOrigin(as other: FetchAddress) -> Bool {
        scheme == other.scheme && host == other.host && port == other.port
    }

    static func fetchable(_ request: FetchRequest) throws(FetchError) -> FetchAddress {
        guard let address = FetchAddress(request.url) else { throw .badAddress("not an http or https address") }
        guard address.scheme == "https" || request.allowHTTP else { throw .plainHTTPRefused }
        return address
    }
}

/// One part, copied; libcurl's own text is given back to it.
private func part(_ handle: OpaquePointer, _ part: CURLUPart, _ flags: UInt32 = 0) -> String? {
    var text: UnsafeMutablePointer<CChar>?
    guard unsafe curl_url_get(handle, part, &text, flags) == CURLUE_OK, let text = unsafe text else { return nil }
    defer { unsafe curl_free(text) }
    return unsafe String(cString: text)
}
