import Synchronization

/// Fetches documents over HTTPS, one blocking call each, for threads that may wait.
///
/// Every call uses a connection of its own: nothing (cookies, sessions, credentials) is carried from one to the next.
/// The usual proxy variables of the environment are honoured, except for loopback addresses.
package final class HTTPFetcher: Sendable {
    private let isCancelled = Atomic<Bool>(false)

    package init() {}

    /// Fetches one document with status 200 over verified TLS, without redirects or encoding, within the limits (V-75).
    ///
    /// - Parameter request: the address and the limits.
    /// - Returns: the document, whole.
    /// - Throws: ``FetchError``; at the latest when the total deadline passes, or soon after ``cancel()``.
    package func fetch(_ request: FetchRequest) throws(FetchError) -> FetchedDocument {
        let transfer = try Transfer(request)
        let result = try transfer.run { isCancelled.load(ordering: .relaxed) }
        return try transfer.document(after: result)
    }

    /// Sends a request and returns its answer, which may have any status, also that of a redirect.
    ///
    /// - Parameter request: the request and its limits. A body that is longer than the limit is not read to its end.
    /// - Returns: the status, and what was read of the body.
    /// - Throws: ``FetchError`` if there is no answer.
    package func exchange(_ request: FetchRequest) throws(FetchError) -> (status: Int, body: [UInt8]) {
        let transfer = try Transfer(request)
        let result = try transfer.run { isCancelled.load(ordering: .relaxed) }
        return try transfer.answer(after: result)
    }

    /// Asks a server of this package, as the command `health` does.
    ///
    /// - Parameter url: the address of the question; see ``FetchRequest/isForOwnServer``.
    /// - Returns: the status, and the text of the answer without the newline at its end.
    /// - Throws: ``FetchError`` if there is no answer within 10 s.
    package static func askOwnServer(_ url: String) throws(FetchError) -> (status: Int, text: String) {
        var request = FetchRequest(url: url, connectTime: .seconds(10), totalTime: .seconds(10), allowHTTP: true)
        request.accept = "text/plain"
        request.isForOwnServer = true
        let (status, body) = try HTTPFetcher().exchange(request)
        let text = String(decoding: body, as: UTF8.self)
        return (status, text.hasSuffix("\n") ? String(text.dropLast()) : text)
    }

    /// Ends all running calls within a twentieth of a second, and every later one at once, with
    /// ``FetchError/cancelled`` (V-91).
    package func cancel() { isCancelled.store(true, ordering: .relaxed) }
}
