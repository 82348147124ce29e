import IssuerKeys
import Platform
import Synchronization
import Tokens

/// `task-server explain-token`: every check of a token in order, with its result and its reason.
///
/// The token comes from standard input, where no process list shows it, and goes nowhere.
func explainToken(_ settings: ServerSettings) -> ExitStatus {
    let token: String
    do throws(SystemError) {
        token = try tokenFromInput()
    } catch {
        StandardStream.error.print("task-server: standard input: \(error)")
        return .failure
    }
    guard !token.isEmpty else {
        StandardStream.error.print(
            "task-server: there is no token on standard input. Example: task-server explain-token < token.txt")
        return .failure
    }
    let verifier = verifier(settings)
    let explanation = verifier.explain(token)
    for finding in explanation.findings { StandardStream.output.print(finding.line) }
    if let refusal = explanation.refusal {
        StandardStream.output.print("\nRefused (\(refusal.code)): \(refusal.message)")
        return .failure
    }
    let scopes = scopeLines(settings.tokens, carried: scopes(of: token, by: verifier))
    StandardStream.output.print((["\nGood."] + scopes).joined(separator: "\n"))
    return .success
}

/// The token, without white space around it and without the scheme, which people copy with it.
private func tokenFromInput() throws(SystemError) -> String {
    let bytes = try StandardStream.input.readAll(limit: 1 << 16)
    let parts = String(decoding: bytes, as: UTF8.self).split { $0 == " " || $0 == "\n" || $0 == "\r\n" || $0 == "\t" }
    let isScheme = parts.count > 1 && (parts[0].lowercased() == "bearer" || parts[0] == "Authorization:")
    return (isScheme ? parts.last : parts.first).map(String.init) ?? ""
}

/// A verifier with the keys of the authority, or, if that is out of reach, with those that a server kept.
private func verifier(_ settings: ServerSettings) -> BearerVerifier {
    var configuration = settings.issuerKeys
    // Not written: the file belongs to the server, which may run as another user.
    configuration.keyCacheFile = nil
    let asked = BearerVerifier(configuration, observer: report)
    asked.loadOnce()
    if asked.statuses.contains(where: \.serves) { return asked }
    configuration.keyCacheFile = settings.storage.keyCache
    let kept = BearerVerifier(configuration)
    kept.loadOnce()
    return kept
}

@Sendable private func report(_ event: KeyEvent) {
    if case .loadFailed(let source, let reason, _) = event {
        StandardStream.error.print("task-server: authority, \(source): \(reason)")
    }
}

/// The scopes that a good token carries.
private func scopes(of token: String, by verifier: BearerVerifier) -> [String] {
    let found = Mutex<[String]>([])
    let done = Wakeup()
    Task {
        let principal = try? await verifier.verify(token)
        found.withLock { $0 = principal?.scopes ?? [] }
        done.wake()
    }
    done.wait()
    return found.withLock { $0 }
}

/// What the token may do where scopes are configured.
private func scopeLines(_ settings: TokenSettings, carried scopes: [String]) -> [String] {
    let wanted = [("read", settings.readScope), ("change", settings.writeScope)]
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

extension TokenExplanation.Finding {
    /// One line: the verdict, what must hold, and what the token says.
    fileprivate var line: String {
        let mark =
            switch verdict {
            case .passed: "passed "
            case .failed: "FAILED "
            case .skipped: "not yet"
            }
        return "\(mark)  \(check.requirement)\(evidence.map { "  \($0)" } ?? "")"
    }
}
