/// Why a document could not be fetched.
package enum FetchError: Error, Equatable, Sendable {
    /// The address may not be fetched.
    case badAddress(String)
    /// The address is `http://`, and only `https://` is allowed.
    case plainHTTPRefused
    /// DNS does not know the name of the host or of the proxy.
    case couldNotResolve(host: String)
    /// Nothing answers at the port.
    case couldNotConnect(reason: String)
    /// The connect or the total deadline passed.
    case timedOut(reason: String)
    /// The server's certificate cannot be verified.
    case certificateNotTrusted(reason: String)
    /// TLS could not be agreed on, for example because the server offers less than TLS 1.2.
    case handshakeFailed(reason: String)
    /// The file of trusted certificates cannot be read.
    case badCAFile(path: String)
    /// The answer is a redirect, which is never followed (V-75).
    case redirected(status: Int)
    /// The status is not 200.
    case status(Int)
    /// The body is longer than the limit.
    case tooLong(limit: Int)
    /// The body is compressed, which was not requested.
    case encoded(String)
    /// The answer breaks off or is not HTTP.
    case brokenAnswer(reason: String)
    /// ``HTTPFetcher/cancel()`` was called.
    case cancelled
    /// libcurl could not be set up, because memory or descriptors ran out.
    case unavailable(reason: String)

    /// The problem and its remedy, in one line.
    package var message: String {
        switch self {
        case .badAddress(let reason): "the address is not usable: \(reason)"
        case .plainHTTPRefused: "plain http is refused; use an https address, or allow http for this authority"
        case .couldNotResolve(let host): "cannot resolve \(host); check the name and this machine's DNS"
        case .couldNotConnect(let reason):
            "cannot connect: \(reason); check that it runs and that no firewall is between"
        case .timedOut(let reason): "no answer in time: \(reason); check the network and the authority's health"
        case .certificateNotTrusted(let reason):
            "the certificate is not trusted: \(reason); name the authority's CA in the CA file, or fix the host name"
        case .handshakeFailed(let reason):
            "TLS failed: \(reason); the server must offer TLS 1.2 or newer at this port"
        case .badCAFile(let path): "cannot read the CA file \(path); it must be a readable PEM file"
        case .redirected(let status): "answered \(status); redirects are not followed, so configure the final address"
        case .status(let status): "answered \(status) instead of 200"
        case .tooLong(let limit): "the answer is longer than \(limit) bytes; is this the right address?"
        case .encoded(let coding):
            "the answer is encoded as \(coding), which was not asked for; is a proxy rewriting it?"
        case .brokenAnswer(let reason):
            "the answer is broken: \(reason); see that scheme and port of the address are right"
        case .cancelled: "cancelled, because the server stops"
        case .unavailable(let reason): "libcurl is not available: \(reason)"
        }
    }
}
