/// What the keys say of one signature.
package enum SignatureFinding: Sendable, Equatable {
    /// The key is known, published under these issuers, and signed this.
    case good([TokenIssuer])
    /// The key is known, published under these issuers, and did not sign this.
    case bad([TokenIssuer])
    /// No such key.
    case unknownKey
    /// No keys to ask.
    case keysUnavailable
}

/// Every check of one token with its result, for a person who wonders why it is refused.
///
/// Walks the rules that the verifier walks, but goes on after a failure wherever the next rule can still be judged. It
/// quotes the claims it judges, so it is for the eyes of whoever holds the token, not for a log.
package struct TokenExplanation: Sendable, Equatable {
    /// How one check went.
    package enum Verdict: Sendable, Equatable {
        case passed
        case failed(TokenRefusal)
        /// It could not be made, because one before failed.
        case skipped
    }

    /// One check and how it went.
    package struct Finding: Sendable, Equatable {
        /// What was checked.
        package let check: TokenCheck
        /// How it went.
        package let verdict: Verdict
        /// The parts of the token that were looked at, as JSON members, escaped.
        package let evidence: String?
    }

    /// All checks, each once, in the verifier's order.
    package let findings: [Finding]

    /// The verifier's answer: the reason of the first failed check, or nothing for a good token.
    package var refusal: TokenRefusal? {
        for case .failed(let refusal) in findings.map(\.verdict) { return refusal }
        return nil
    }

    /// Explains a token.
    ///
    /// - Parameters:
    ///   - token: the text, without scheme and surrounding white space.
    ///   - rules: the rules of the server.
    ///   - issuers: all that are configured, to judge by when the key is unknown.
    ///   - now: the wall clock, in seconds since 1970.
    ///   - signature: what the keys say, asked once and only for a usable header.
    package init(
        of token: String, rules: ClaimRules, issuers: [TokenIssuer], now: Int64,
        signature: (CompactToken, JOSEHeader) -> SignatureFinding
    ) {
        var walk = ExplanationWalk()
        let compact = walk.form(token)
        let header = walk.header(compact)
        let found = walk.signature(compact, header, ask: signature)
        walk.claims(compact, rules: rules, issuers: found ?? issuers, now: now)
        findings = walk.findings
    }
}
