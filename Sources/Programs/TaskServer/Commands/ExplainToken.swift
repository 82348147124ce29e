import Basics
import IssuerKeys
import Platform
import TaskAPI
import Tokens

/// `task-server explain-token`: the verdict of the server's verifier, and what it compares in the token with what.
///
/// The token comes from standard input, where no process list shows it, and goes nowhere.
func explainToken(_ settings: ServerSettings) throws(OperatorError) -> ExitStatus {
    let token = try rethrowing(as: { OperatorError("standard input: \($0)") }) { () throws(SystemError) in
        try tokenFromInput()
    }
    guard !token.isEmpty else {
        throw OperatorError("there is no token on standard input. Example: task-server explain-token < token.txt")
    }
    let verifier = verifier(settings, for: token)
    let explanation = verifier.explain(token)
    let chosen = verifier.chosenSource(of: token)
    let now = SystemTime().wallMilliseconds / 1000
    var lines = [sourceLine(verifier, chosen)]
    for (title, members) in [("Header", explanation.header), ("Claims", explanation.claims)] where !members.isEmpty {
        lines.append("\n\(title):")
        lines += members.map { $0.line(now) }
    }
    switch explanation.verdict {
    case .success(let principal):
        lines.append("\nGood. Its tasks belong to \(principal.owner.printable()).")
        let source = settings.sources.all.first { $0.name == principal.source }
        lines += scopeLines(source?.source.rules.scopes.required ?? RequiredScopes(), carried: principal.scopes)
    case .failure(let refusal):
        // A server with one source notices the key of a foreign token first, but its issuer is what is wrong.
        let isForeign = chosen == nil && [.wrongIssuer, .wrongTenant, .unknownKey, .badSignature].contains(refusal)
        lines += refusalLines(refusal, verifier.mistake(in: token, refused: isForeign ? .wrongIssuer : refusal))
        let source = settings.sources.all.first { $0.name == chosen?.name } ?? settings.sources.all.first
        if let setting = refusal.setting { lines.append("Setting: \(source?.setting(setting) ?? "TASKS_\(setting)")") }
        if isForeign, let advice = missingSource(of: token, verifier) { lines.append(advice) }
    }
    StandardStream.output.print(lines.joined(separator: "\n"))
    return explanation.refusal == nil ? .success : .failure
}

/// The rule that the token breaks, and the mistake, which takes the place of the rule's text if it says the same.
private func refusalLines(_ refusal: TokenRefusal, _ mistake: CommonMistake?) -> [String] {
    let code = refusal.problemCode
    let isSame = mistake?.code == refusal.code
    let text = isSame ? mistake?.message ?? refusal.message : refusal.message
    let lines = [
        "\nRefused (\(code), \(refusal.code)): \(text)",
        "Clients see \(code); /problems.html#\(code) of the server explains both codes.",
    ]
    guard let mistake, !isSame else { return lines }
    return lines + ["Probably (\(mistake.code)): \(mistake.message)"]
}

extension TokenRefusal {
    /// The last word of the setting that decides of this rule; nil if no setting does.
    fileprivate var setting: String? {
        switch self {
        case .wrongAlgorithm: "ALGORITHMS"
        case .unknownKey, .missingPolicy, .wrongPolicy: "POLICIES"
        case .expired, .notYetValid, .issuedInFuture: "CLOCK_SKEW"
        case .lifetimeTooLong: "MAX_LIFETIME"
        case .wrongIssuer, .keysUnavailable: "AUTHORITY"
        case .wrongAudience: "CLIENT_ID"
        case .missingOwner, .malformedOwner: "OWNER_CLAIM"
        case .malformedScope: "SCOPE_CLAIM"
        case .wrongTenant: "TENANTS"
        case .idToken, .notIDToken: "TOKEN_KIND"
        case .sourceClosed: "UNTIL"
        case .tooLong, .notThreeSegments, .notBase64URL, .headerNotJSON, .wrongType, .criticalExtension,
            .unsupportedHeader, .missingKeyIdentifier, .badSignature, .payloadNotJSON, .missingExpiry,
            .notNumericDate, .applicationToken:
            nil
        }
    }
}

/// The line that names the source whose rules are applied, and why, or the sources to choose from (P-33).
private func sourceLine(_ verifier: BearerVerifier, _ chosen: TokenSourceStatus?) -> String {
    let statuses = verifier.statuses
    let list = { (issuers: [String]) in
        issuers.isEmpty ? "not known yet" : issuers.map { $0.printable() }.joined(separator: ", ")
    }
    guard let chosen else {
        let known = statuses.map { "\($0.name ?? "without a name"): \(list($0.issuers))" }
        return "No source has the issuer of this token (iss). Configured: \(known.joined(separator: "; "))"
    }
    let name = chosen.name.map { "Source \($0)" } ?? "The source without a name"
    return statuses.count == 1
        ? "\(name), the only one; its issuer is \(list(chosen.issuers))"
        : "\(name), because the token claims to be from its issuer: \(list(chosen.issuers))"
}

/// The settings that add the tenant of a token of B2C or External ID to the tenants that are configured (P-33).
private func missingSource(of token: String, _ verifier: BearerVerifier) -> String? {
    guard let claims = try? Claims(of: CompactToken(token)), let address = claims.issuer.flatMap({ WebAddress($0) }),
        let tenant = IssuerTenant.of(address)
    else { return nil }
    let isExternal = address.host.hasSuffix(".ciamlogin.com")
    let policy = claims.policy.flatMap { PolicyName.isOfB2C($0) ? $0.printable() : nil }
    guard isExternal || policy != nil else { return nil }
    let (service, short) = isExternal ? ("External ID", "ext") : ("Azure AD B2C", "b2c")
    let names = verifier.statuses.compactMap(\.name)
    let name = names.contains(short) ? "\(short)-2" : short
    let start = "TASKS_SOURCE_\(name.asVariable)_"
    let known = verifier.statuses.flatMap(\.issuers).map { $0.printable() }.joined(separator: ", ")
    return """
        iss \(address.text.printable()) is not configured (\(known) is). For \(service) add:
            TASKS_SOURCES=\((names + [name]).joined(separator: ","))
            \(start)AUTHORITY=\(address.text.originAndPath.origin)/\(tenant)
        \(isExternal ? "" : "    \(start)POLICIES=\(policy ?? "")\n")\
            \(start)CLIENT_ID=<the id of the API's registration there>
            \(start)OWNERS=shared    (if the people of both are the same: docs/migrate-to-external-id.md)
        """
}

/// The token, without white space around it and without the scheme, which people copy with it.
private func tokenFromInput() throws(SystemError) -> String {
    let bytes = try StandardStream.input.readAll(limit: 1 << 16)
    let text = String(decoding: bytes.withoutByteOrderMark, as: UTF8.self)
    let parts = text.split { $0 == " " || $0 == "\n" || $0 == "\r\n" || $0 == "\t" }
    let isScheme = parts.count > 1 && (parts[0].lowercased() == "bearer" || parts[0] == "Authorization:")
    return (isScheme ? parts.last : parts.first).map(String.init) ?? ""
}

/// A verifier with the keys of the providers, or, if they are out of reach, with those that a server kept.
///
/// No provider is asked while the kept keys are fresh and decide of this token (P-33).
private func verifier(_ settings: ServerSettings, for token: String) -> BearerVerifier {
    var configuration = settings.issuerKeys
    let kept = BearerVerifier(configuration)
    kept.readFile()
    if kept.isFresh, kept.decides(of: token) { return kept }
    // Not written: the file belongs to the server, which may run as another user.
    configuration.keyCacheFile = nil
    let asked = BearerVerifier(configuration, observer: report)
    asked.loadOnce()
    return asked.statuses.contains(where: \.serves) ? asked : kept
}

extension BearerVerifier {
    /// Whether all keys are younger than the time after which a server fetches them again.
    fileprivate var isFresh: Bool {
        let fresh = KeyTiming().refresh.components.seconds
        return statuses.allSatisfy { $0.isClosed || $0.keys.ageSeconds.map { $0 < fresh } ?? false }
    }

    /// Whether newer keys could not change the explanation: the key is known, and so is the issuer.
    fileprivate func decides(of token: String) -> Bool {
        switch explain(token).refusal {
        case .unknownKey, .wrongIssuer, .badSignature, .keysUnavailable: false
        default: true
        }
    }
}

@Sendable private func report(_ event: KeyEvent) {
    if case .loadFailed(let source, let reason, _) = event {
        StandardStream.error.print("task-server: authority, \(source): \(reason)")
    }
}

/// The lines that say what the token may do, by the scopes that its source requires.
private func scopeLines(_ required: RequiredScopes, carried scopes: [String]) -> [String] {
    let wanted = [("read", required.read), ("change", required.write)]
    guard wanted.contains(where: { $0.1 != nil }) else {
        return ["No scopes are configured: it may read and change its owner's tasks."]
    }
    return wanted.map { verb, scope in
        guard let scope else { return "It may \(verb) tasks: no scope is configured for that." }
        return scopes.contains { $0.utf8.elementsEqual(scope.utf8) }
            ? "It may \(verb) tasks: it carries the scope \(scope)."
            : "It may NOT \(verb) tasks (403): it does not carry the scope \(scope)."
    }
}

extension TokenExplanation.Member {
    fileprivate func line(_ now: Int64) -> String {
        let time = moment.map { " (\(MomentText(moment: $0, now: now).text))" } ?? ""
        let wanted = accepted.isEmpty ? "" : "  accepted: \(accepted.joined(separator: ", "))"
        return "  \(name): \(value ?? "missing")\(time)\(wanted)"
    }
}

/// A time of a token for people: `2026-11-22 19:04:05 UTC, 5 minutes ago`.
struct MomentText {
    /// Seconds since 1970, as the claim has it.
    let moment: Int64
    let now: Int64

    var text: String {
        let stamp = Timestamp(seconds: moment).text
        return "\(stamp.prefix(10)) \(stamp.dropFirst(11).prefix(8)) UTC, \(distance)"
    }

    private var distance: String {
        // Saturated, because a claim may be any number.
        let (difference, overflow) = moment.subtractingReportingOverflow(now)
        let seconds = overflow ? UInt64.max : difference.magnitude
        guard seconds > 0 else { return "now" }
        let length = Self.length(of: seconds)
        return moment < now ? "\(length) ago" : "in \(length)"
    }

    private static func length(of seconds: UInt64) -> String {
        switch seconds {
        case ..<120: seconds.counted("second")
        case ..<7200: (seconds / 60).counted("minute")
        case ..<172_800: (seconds / 3600).counted("hour")
        default: (seconds / 86_400).counted("day")
        }
    }
}
