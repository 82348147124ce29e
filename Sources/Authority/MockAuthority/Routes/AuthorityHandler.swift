package import HTTP

/// Answers the requests that come over one scheme, which the URLs of its responses name.
package struct AuthorityHandler: RequestHandler {
    private let authority: MockAuthority
    private let scheme: String

    /// `scheme` is `http` or `https`.
    package init(_ authority: MockAuthority, scheme: String) {
        self.authority = authority
        self.scheme = scheme
    }

    package func decide(on head: RequestHead) -> Decision { authority.decide(on: head, scheme: scheme) }
}
