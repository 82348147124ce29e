import Basics
import JSON

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
        /// The values that the check compares with, as escaped JSON texts; empty if the check compares with none.
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

/// Every check that a token must pass, in the order in which the verifier makes them.
package enum TokenCheck: Sendable, Equatable, CaseIterable {
    case form, header
    case headerRule(HeaderCheck)
    case source, key, signature, payload
    case claim(ClaimCheck)

    package static let allCases: [TokenCheck] =
        [.form, .header] + HeaderCheck.allCases.map { .headerRule($0) } + [.source, .key, .signature, .payload]
        + ClaimCheck.allCases.map { .claim($0) }

    /// The condition that must hold, as a sentence without its full stop.
    package var requirement: String {
        switch self {
        case .form: "the token has three parts of canonical base64url, and is not too long"
        case .header: "the header is one strict JSON object"
        case .headerRule(.algorithm): "alg is a signature that the server can verify"
        case .headerRule(.type): "typ is absent, JWT or at+jwt"
        case .headerRule(.critical): "the header has no critical extension (crit)"
        case .headerRule(.unsupported): "the token is not encrypted, compressed, detached or nested"
        case .headerRule(.keyIdentifier): "the header names its key (kid)"
        case .source: "a provider is configured for the issuer, and its time is not over (iss)"
        case .key: "the provider publishes the key for this alg, and the settings allow it"
        case .signature: "the key made the signature"
        case .payload: "the claims are one strict JSON object"
        case .claim(.expiry): "the token has not expired (exp)"
        case .claim(.notBefore): "the token is valid already (nbf)"
        case .claim(.issuedAt): "the token was issued in the past, for no longer than allowed (iat)"
        case .claim(.tenant): "the tenant may use this API (tid)"
        case .claim(.issuer): "the token is from the issuer of the key (iss)"
        case .claim(.audience): "the token is meant for this application (aud)"
        case .claim(.policy): "the token is from a policy of the key (tfp or acr)"
        case .claim(.kind): "the token is of the configured kind: access token or ID token"
        case .claim(.application): "the token is for a person, not for an application"
        case .claim(.owner): "the token names its owner"
        case .claim(.scope): "the scopes, if there are any, are a string or an array (scp, scope)"
        }
    }
}

/// Makes the checks of one token and collects the findings of those that are possible.
struct ExplanationWalk {
    private(set) var findings: [TokenExplanation.Finding] = []

    mutating func form(_ text: String) -> CompactToken? {
        make(.form) { () throws(TokenRefusal) in try CompactToken(text) }
    }

    /// Checks the header by each rule, and returns it if all rules hold.
    mutating func header(_ token: CompactToken) -> JOSEHeader? {
        let members = make(.header) { () throws(TokenRefusal) in try JOSEHeader.members(of: token) }
        guard let members else { return nil }
        for check in HeaderCheck.allCases {
            let evidence = evidence(check.names, in: members)
            make(.headerRule(check), evidence) { () throws(TokenRefusal) in try check.apply(to: members) }
        }
        return try? JOSEHeader(of: token)
    }

    /// Notes whether the token has a source (P-13), or else the refusal.
    mutating func source(_ token: CompactToken, _ refusal: TokenRefusal?) {
        let claims = try? Claims(of: token)
        let issuer = claims.flatMap { evidence(["iss"], in: $0.members) }
        note(.source, refusal.map { .failed($0) } ?? .passed, issuer)
    }

    /// Notes what was found about key and signature, and returns the issuers of the key if the key is known.
    mutating func signature(_ finding: SignatureFinding) -> [TokenIssuer]? {
        switch finding {
        case .good(let issuers):
            note(.key, .passed)
            note(.signature, .passed)
            return issuers
        case .bad(let issuers):
            note(.key, .passed)
            note(.signature, .failed(.badSignature))
            return issuers
        case .unknownKey: note(.key, .failed(.unknownKey))
        case .otherAlgorithm: note(.key, .failed(.wrongAlgorithm))
        case .keysUnavailable: note(.key, .failed(.keysUnavailable(retryAfter: 1)))
        }
        return nil
    }

    /// Checks the claims by each rule, even under a bad signature: the holder wants to know everything that is wrong.
    ///
    /// Returns the token if it names its owner; it is good only if every check passed.
    mutating func claims(
        _ token: CompactToken, rules: ClaimRules?, issuers: [TokenIssuer], now: Int64
    ) -> VerifiedToken? {
        let claims = make(.payload) { () throws(TokenRefusal) in try Claims(of: token) }
        guard let claims, let rules else { return nil }
        var examination = ClaimExamination(claims: claims, rules: rules, issuers: issuers, now: now)
        for check in ClaimCheck.allCases {
            let needsIssuers = check == .issuer || check == .policy
            if needsIssuers, issuers.isEmpty { continue }
            let names = check.names(rules)
            let evidence = evidence(names, in: claims.members)
            let isAboutTime = [.expiry, .notBefore, .issuedAt].contains(check)
            let moment = isAboutTime ? (try? claims.moment(names[0])).map { Int64($0.rounded(.down)) } : nil
            make(.claim(check), evidence, moment) { () throws(TokenRefusal) in
                try examination.apply(check)
            }
            let accepted = check.values(rules, issuers).map { text in
                Self.visible(String(decoding: JSONValue.string(text).serialized(), as: UTF8.self))
            }
            findings[findings.count - 1].accepted = accepted
        }
        return try? examination.verified()
    }

    /// Makes one check, notes its result, and returns the value that was checked; nil if the check failed.
    @discardableResult
    private mutating func make<Value>(
        _ check: TokenCheck, _ evidence: String? = nil, _ moment: Int64? = nil,
        _ body: () throws(TokenRefusal) -> Value
    ) -> Value? {
        do throws(TokenRefusal) {
            let value = try body()
            note(check, .passed, evidence, moment)
            return value
        } catch {
            note(check, .failed(error), evidence, moment)
            return nil
        }
    }

    private mutating func note(
        _ check: TokenCheck, _ verdict: TokenExplanation.Verdict, _ evidence: String? = nil, _ moment: Int64? = nil
    ) {
        findings.append(
            TokenExplanation.Finding(check: check, verdict: verdict, evidence: evidence, moment: moment))
    }

    /// Returns the members of these names as JSON in printable ASCII, so that no text in them can control a terminal.
    private func evidence(_ names: [String], in claims: JSONMembers) -> String? {
        let members = names.compactMap { name in
            claims[name].map { value in
                let text = String(decoding: value.serialized(), as: UTF8.self)
                return "\"\(name)\":\(Self.visible(text))"
            }
        }
        return members.isEmpty ? nil : members.joined(separator: ",")
    }

    /// Returns the text with all but printable ASCII as `\u{...}`, cut after 256 characters.
    private static func visible(_ text: String) -> String {
        let escaped = text.unicodeScalars.map { scalar in
            scalar.value >= 0x20 && scalar.value < 0x7F ? String(scalar) : scalar.escaped(asASCII: true)
        }
        return escaped.count > 256 ? escaped.prefix(256).joined() + "..." : escaped.joined()
    }
}

extension HeaderCheck {
    /// The members of the header that this rule reads.
    fileprivate var names: [String] {
        switch self {
        case .algorithm: ["alg"]
        case .type: ["typ"]
        case .critical: ["crit"]
        case .unsupported: ["b64", "zip", "enc", "cty"]
        case .keyIdentifier: ["kid"]
        }
    }
}

extension ClaimCheck {
    /// Returns the values with which this rule compares a claim.
    fileprivate func values(_ rules: ClaimRules, _ issuers: [TokenIssuer]) -> [String] {
        switch self {
        case .tenant: rules.tenants?.listed ?? []
        case .issuer: Set(issuers.map(\.identifier)).sorted()
        case .audience: rules.audience.accepted
        case .policy: Set(issuers.compactMap(\.policy)).sorted()
        default: []
        }
    }

    /// Returns the claims that this rule reads.
    fileprivate func names(_ rules: ClaimRules) -> [String] {
        switch self {
        case .expiry: ["exp"]
        case .notBefore: ["nbf"]
        case .issuedAt: ["iat"]
        case .tenant: ["tid"]
        case .issuer: ["iss"]
        case .audience: rules.audience.claim.isSame(as: "aud") ? ["aud"] : [rules.audience.claim, "aud"]
        case .policy: ["tfp", "acr"]
        case .kind: ["token_use", "typ", "nonce", "at_hash", "c_hash"]
        case .application: ["idtyp"]
        case .owner: rules.owner.claim.names
        case .scope: rules.scopes.claim == .scp ? ["scp"] : ["scp", "scope"]
        }
    }
}
