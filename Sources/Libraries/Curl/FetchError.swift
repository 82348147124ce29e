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
    /// The status is 429 or 503, and `Retry-After` says for how many seconds not to ask again.
    case busy(status: Int, retryAfter: Int)
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
        case .badAddress(let reason): "the address cannot be used: \(reason)"
        case .plainHTTPRefused: "plain http is refused; use an https address, or allow http for this authority"
        case .couldNotResolve(let host): "this machine cannot resolve \(host); check the name and the machine's DNS"
        case .couldNotConnect(let reason):
            "this machine cannot connect: \(reason); check that the other side runs, and the firewalls between"
        case .timedOut(let reason):
            "there was no answer in time: \(reason); check the network and the health of the other side"
        case .certificateNotTrusted(let reason):
            "the certificate is not trusted: \(reason); put the authority's CA into the CA file, or correct the host name"
        case .handshakeFailed(let reason):
            "TLS failed: \(reason); the server must offer TLS 1.2 or newer at this port"
        case .badCAFile(let path): "this program cannot read the CA file \(path); the file must be readable and in PEM"
        case .redirected(let status):
            "the answer is a redirect (\(status)), and none is followed; configure the final address"
        case .status(let status): "the answer has the status \(status) instead of 200"
        case .busy(let status, let seconds):
            "the answer has the status \(status) and asks for a pause of \(seconds) s; ask the other side about its limits"
        case .tooLong(let limit): "the answer is longer than \(limit) bytes; check that the address is right"
        case .encoded(let coding):
            "the answer is encoded as \(coding), which was not requested; check whether a proxy changes answers"
        case .brokenAnswer(let reason):
            "the answer is broken: \(reason); check the scheme and the port of the address"
        case .cancelled: "the fetch was cancelled, because the server stops"
        case .unavailable(let reason): "libcurl is not available: \(reason)"
        }
    }
}
