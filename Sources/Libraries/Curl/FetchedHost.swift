import Basics
private import CCurl

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
        if host == other { return true }
        guard host.hasPrefix("["), other.hasPrefix("["),
            let address = IPAddress(host.dropFirst().dropLast())
        else { return false }
        return address == IPAddress(other.dropFirst().dropLast())
    }
}
