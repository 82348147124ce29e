package import Curl

/// Fetches documents for the key cache, from the network or, in tests, from memory.
package protocol DocumentFetcher: Sendable {
    /// Fetches one document within the request's deadlines, and blocks the calling thread.
    func fetch(_ request: FetchRequest) throws(FetchError) -> FetchedDocument
    /// Ends a running fetch within a second, and all later fetches at once (V-91).
    func cancel()
}

extension HTTPFetcher: DocumentFetcher {}
