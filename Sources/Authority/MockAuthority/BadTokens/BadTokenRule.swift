/// The rule that forbids an API to accept a token, and what somebody can do if the API accepts it.
package struct BadTokenRule: Sendable {
    /// What somebody can do, as a sentence.
    package let danger: String
    /// The standard and its section.
    package let source: String
}

extension BadTokenRule {
    static let signature = BadTokenRule(
        danger: "Anybody can write such a token, and so be any user.",
        source: "RFC 7515 section 5.2, and RFC 8725 section 3.3")
    static let algorithm = BadTokenRule(
        danger: "Anybody can write such a token without a private key, and so be any user.",
        source: "RFC 8725 sections 3.1 and 3.2")
    /// A key of the issuer that the issuer withdrew, or a key of another issuer.
    package static let key = BadTokenRule(
        danger: "Whoever has a key that is not one of the issuer's, for example a stolen one, can be any user.",
        source: "RFC 8725 section 3.8, and OpenID Connect Core 1.0 section 10.1.1")
    static let expiry = BadTokenRule(
        danger: "Whoever finds an old token in a log or a backup can use it for ever.",
        source: "RFC 7519 section 4.1.4, and RFC 9068 section 4")
    static let timeAsText = BadTokenRule(
        danger: "The end of the token's life is a text, of which two libraries may read two times.",
        source: "RFC 7519 section 4.1.4")
    static let notBefore = BadTokenRule(
        danger: "A permission that begins later can be used now.", source: "RFC 7519 section 4.1.5")
    package static let issuer = BadTokenRule(
        danger: "Whoever signs in somewhere else, or runs another issuer, can be a user of this API.",
        source: "RFC 8725 section 3.8, and RFC 9068 section 4")
    package static let audience = BadTokenRule(
        danger: "Every other application to which a user signs in can use this API in the name of that user.",
        source: "RFC 7519 section 4.1.3, and RFC 8725 section 3.9")
    static let kind = BadTokenRule(
        danger: "A token that was issued for another purpose can be used at this API.",
        source: "RFC 8725 sections 3.11 and 3.12")
    static let criticalHeader = BadTokenRule(
        danger: "The API ignores a restriction of which the token says that nobody may ignore it.",
        source: "RFC 7515 section 4.1.11")
    static let scope = BadTokenRule(
        danger: "An application can do what the user never permitted that application to do.",
        source: "RFC 9068 section 4, and RFC 6750 section 3.1")
    static let validation = BadTokenRule(
        danger: "The API accepts what is no good token of its issuer, and whoever can write such a token is a user.",
        source: "RFC 7519 section 7.2")
}
