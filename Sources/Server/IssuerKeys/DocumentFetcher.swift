package import Curl

/// What fetches a document for the key cache: the network, or a test.
package protocol DocumentFetcher: Sendable {
    /// Fetches one document, within the request's deadlines; blocks the calling thread.
    func fetch(_ request: FetchRequest) throws(FetchError) -> FetchedDocument
    /// Ends a running fetch within a second, and all later ones at once (V-91).
    func cancel()
}

extension HTTPFetcher: DocumentFetcher {}
