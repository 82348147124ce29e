/// The result of checking a signature.
package enum SignatureFinding: Sendable, Equatable {
    /// The key is known, published under these issuers, and signed this token.
    case good([TokenIssuer])
    /// The key is known, published under these issuers, and did not sign this token.
    case bad([TokenIssuer])
    case unknownKey
    /// The key is known for another algorithm, or the settings do not allow the algorithm.
    case otherAlgorithm
    /// No keys are loaded.
    case keysUnavailable
}

/// Every check of one token with its result, for a person who wants to know why it is refused.
///
/// After a failure it continues with every check that is still possible. It quotes claims, so it must not reach a log.
package struct TokenExplanation: Sendable, Equatable {
    package enum Verdict: Sendable, Equatable {
        case passed
        case failed(TokenRefusal)
        /// The check was impossible, because an earlier one failed.
        case skipped
    }

    package struct Finding: Sendable, Equatable {
        package let check: TokenCheck
        package let verdict: Verdict
        /// The parts of the token that the check read, as JSON members, escaped.
        package let evidence: String?
        /// The time that the check read, in seconds since 1970, rounded down; nil if the check is not about a time.
        package let moment: Int64?
        /// The values that the check compares with, as JSON texts, escaped; empty if the check is not about such values.
        package var accepted: [String] = []
    }

    /// All checks, each once, in the order of the verifier.
    package let findings: [Finding]
    /// The person of a good token.
    package let principal: Principal?

    /// The verifier's answer: the reason of the first failed check; nil for a good token.
    package var refusal: TokenRefusal? {
        for case .failed(let refusal) in findings.map(\.verdict) { return refusal }
        return nil
    }

    /// Explains a token, without scheme and surrounding white space, at this second since 1970.
    ///
    /// The rules are those of the token's source. If the token has no source, or its source takes no tokens,
    /// `sourceRefusal` is the reason. The claims of a token whose key is unknown are checked for all issuers of the
    /// source. The closure checks the signature of a token with a usable header.
    package init(
        of token: String, rules: ClaimRules?, sourceRefusal: TokenRefusal? = nil, issuers: [TokenIssuer], now: Int64,
        signature: (CompactToken, JOSEHeader) -> SignatureFinding
    ) {
        var walk = ExplanationWalk()
        var verified: VerifiedToken?
        if let compact = walk.form(token) {
            let header = walk.header(compact)
            walk.source(compact, sourceRefusal)
            var found: [TokenIssuer]?
            if let header, rules != nil { found = walk.signature(signature(compact, header)) }
            verified = walk.claims(compact, rules: rules, issuers: found ?? issuers, now: now)
        }
        let made = walk.findings
        findings = TokenCheck.allCases.map { check in
            made.first { $0.check == check } ?? Finding(check: check, verdict: .skipped, evidence: nil, moment: nil)
        }
        let isGood = findings.allSatisfy { $0.verdict == .passed }
        principal = isGood ? verified?.principal : nil
    }
}
