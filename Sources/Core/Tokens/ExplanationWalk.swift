import Basics
import JSON

/// Makes the checks of one token and collects the findings of those that are possible.
struct ExplanationWalk {
    private(set) var findings: [TokenExplanation.Finding] = []

    /// Takes the token apart.
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
