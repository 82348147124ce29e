package import Curl

/// Fetches documents for the key cache: from the network, or made up by a test.
package protocol DocumentFetcher: Sendable {
    /// Fetches one document, within the request's deadlines; blocks the calling thread.
    func fetch(_ request: FetchRequest) throws(FetchError) -> FetchedDocument
    /// Ends a fetch that runs within a second, and all later ones at once (V-91).
    func cancel()
}

extension HTTPFetcher: DocumentFetcher {}
