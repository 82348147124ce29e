import Basics
import JSON

/// Makes all checks of one token and collects the findings.
struct ExplanationWalk {
    private(set) var findings: [TokenExplanation.Finding] = []

    /// Takes the token apart.
    mutating func form(_ text: String) -> CompactToken? {
        do throws(TokenRefusal) {
            let token = try CompactToken(text)
            note(.form, .passed)
            return token
        } catch {
            note(.form, .failed(error))
            return nil
        }
    }

    /// Checks the header by each rule, and returns it if all rules hold.
    mutating func header(_ token: CompactToken?) -> JOSEHeader? {
        let members = read(.header, of: token, JOSEHeader.members)
        guard let token, let members else {
            HeaderCheck.allCases.forEach { note(TokenCheck($0), .skipped) }
            return nil
        }
        for check in HeaderCheck.allCases {
            let verdict = verdict { () throws(TokenRefusal) in try check.apply(to: members) }
            note(TokenCheck(check), verdict, evidence(check.names, in: members))
        }
        return try? JOSEHeader(of: token)
    }

    /// Reads a part of the token as JSON; nil if there is no token or no JSON.
    private mutating func read<Part>(
        _ check: TokenCheck, of token: CompactToken?, _ read: (CompactToken) throws(TokenRefusal) -> Part
    ) -> Part? {
        guard let token else {
            note(check, .skipped)
            return nil
        }
        do throws(TokenRefusal) {
            let part = try read(token)
            note(check, .passed)
            return part
        } catch {
            note(check, .failed(error))
            return nil
        }
    }

    /// Notes whether the token has a source (P-13), or else the refusal.
    mutating func source(_ token: CompactToken?, _ refusal: TokenRefusal?) {
        guard let token else { return note(.source, .skipped) }
        let claims = try? Claims(of: token)
        let issuer = claims.flatMap { evidence(["iss"], in: $0.members) }
        note(.source, refusal.map { .failed($0) } ?? .passed, issuer)
    }

    /// Checks key and signature, and returns the issuers of the key if the key is known.
    mutating func signature(
        _ token: CompactToken?, _ header: JOSEHeader?, ask: (CompactToken, JOSEHeader) -> SignatureFinding
    ) -> [TokenIssuer]? {
        guard let token, let header else {
            note(.key, .skipped)
            note(.signature, .skipped)
            return nil
        }
        switch ask(token, header) {
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
        note(.signature, .skipped)
        return nil
    }

    /// Checks the claims by each rule, even under a bad signature: the holder wants to know everything that is wrong.
    mutating func claims(_ token: CompactToken?, rules: ClaimRules?, issuers: [TokenIssuer], now: Int64) {
        let claims = read(.payload, of: token, Claims.init(of:))
        guard let claims, let rules else {
            ClaimCheck.allCases.forEach { note(TokenCheck($0), .skipped) }
            return
        }
        var examination = ClaimExamination(claims: claims, rules: rules, issuers: issuers, now: now)
        for check in ClaimCheck.allCases {
            let needsIssuers = check == .issuer || check == .policy
            let result =
                needsIssuers && issuers.isEmpty
                ? TokenExplanation.Verdict.skipped
                : verdict { () throws(TokenRefusal) in try examination.apply(check) }
            note(TokenCheck(check), result, evidence(check.names(rules), in: claims.members), check.moment(in: claims))
        }
    }

    private func verdict(_ body: () throws(TokenRefusal) -> Void) -> TokenExplanation.Verdict {
        do throws(TokenRefusal) {
            try body()
            return .passed
        } catch {
            return .failed(error)
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
    var names: [String] {
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
    /// Returns the time that this rule checks, in seconds since 1970.
    fileprivate func moment(in claims: Claims) -> Int64? {
        let name: String
        switch self {
        case .expiry: name = "exp"
        case .notBefore: name = "nbf"
        case .issuedAt: name = "iat"
        case .tenant, .issuer, .audience, .policy, .kind, .application, .owner, .scope: return nil
        }
        guard let moment = try? claims.moment(name) else { return nil }
        return Int64(exactly: moment.rounded(.down))
    }

    /// Returns the claims that this rule reads.
    func names(_ rules: ClaimRules) -> [String] {
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
