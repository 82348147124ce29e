import Basics

/// The rules for the audience of a token (V-55, P-24).
package struct AudienceRules: Sendable, Equatable {
    /// The application identifiers that are accepted, compared byte by byte (P-25).
    package var accepted: [String]
    /// The claim that holds the audience; `client_id` for Cognito, whose access tokens have no `aud`.
    package var claim = "aud"
    package var match = AudienceMatch.one

    package init(accepted: [String]) {
        self.accepted = accepted
    }
}

/// The rule for an array of audiences (P-24).
package enum AudienceMatch: String, Sendable, CaseIterable {
    /// One element, which is accepted: if there were several, another audience could present the token here.
    case one
    /// 1 to 16 elements, of which at least one is accepted.
    case any
}
