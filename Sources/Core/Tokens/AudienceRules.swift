/// For whom a token must be issued (V-55, P-24).
package struct AudienceRules: Sendable, Equatable {
    /// The application identifiers that are accepted, compared byte by byte (P-25).
    package var accepted: [String]
    /// The claim that holds them; `client_id` for Cognito, whose access tokens have no `aud`.
    package var claim = "aud"
    package var match = AudienceMatch.one

    package init(accepted: [String]) {
        self.accepted = accepted
    }
}

/// What an array of audiences must have (P-24).
package enum AudienceMatch: String, Sendable, CaseIterable {
    /// One element, which is accepted: with others, another of them could present the token here.
    case one
    /// 1 to 16 elements, of which one is accepted.
    case any
}
