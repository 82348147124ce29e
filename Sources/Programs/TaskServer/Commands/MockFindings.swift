import Basics
import Curl
import IssuerKeys
import JSON
import Platform
import Settings
import Tokens

/// What `check` finds with a token, where mock-authority is the authority: it gives one to any program on this machine.
///
/// A provider tells no one whether a client id exists, so only a token shows whether the settings fit. Nothing if the authority
/// of the source without a name is not on this machine, or is another program.
func mockFindings(_ read: ReadSettings<ServerSettings>) -> [Finding] {
    let settings = read.values
    guard let token = mockToken(settings.sources.all.first) else { return [] }
    var configuration = settings.issuerKeys
    // Not written: the file belongs to the server, which may run as another user.
    configuration.keyCacheFile = nil
    let verifier = BearerVerifier(configuration)
    verifier.loadOnce()
    switch verifier.explain(token).refusal {
    case nil: break
    // What is wrong with the authority has its own line.
    case .keysUnavailable: return []
    case .wrongAudience:
        return [
            .wrong(
                "client id: this mock-authority has no such application, so its tokens are for another one; "
                    + "mock-authority client-settings --for page prints the settings that fit it")
        ]
    case let refusal?:
        return [.open("token: one of this mock-authority is refused (\(refusal.code)): \(refusal.message)")]
    }
    let command = (read.assignments + [CommandLine.arguments[0].quotedForShell, "explain-token"]).joined(separator: " ")
    return [
        .good("token: one of this mock-authority passes every check. To see them, and your own token in its place:"),
        .command("echo \(token) | \(command)"),
    ]
}

/// A token for Alice, of the first policy and for the first audience, if the mock has such a client.
private func mockToken(_ settings: SourceSettings?) -> String? {
    guard let settings, let address = settings.provider.address, address.isLoopback else { return nil }
    var query = "user=alice@example.com"
    if let policy = settings.provider.policies.first {
        query += "&policy=\(PercentEncoding.encode(policy))"
    } else {
        query += "&profile=external-id"
    }
    let client = settings.source.rules.audience.accepted.first.map { "&client=\(PercentEncoding.encode($0))" } ?? ""
    let scheme = address.isEncrypted ? "https" : "http"
    for each in [query + client, query] {
        let request = FetchRequest(
            url: "\(scheme)://\(address.host):\(address.port)"
                + "/_mock/token?\(each)",
            maxBytes: 1 << 16, caFile: settings.provider.certificates, allowHTTP: true)
        guard let found = try? HTTPFetcher().fetch(request) else { continue }
        // What another program answers is not passed on to a terminal, and into a shell.
        guard let token = (try? JSONValue(parsing: found.body))?.object?["access_token"]?.string,
            (try? CompactToken(token)) != nil
        else { continue }
        return token
    }
    return nil
}

extension ReadSettings {
    /// The settings that were given and are no secrets, as assignments for a shell: `TASKS_CLIENT_ID=580e…`.
    fileprivate var assignments: [String] {
        entries.compactMap { entry in
            guard let variable = entry.variable, entry.source != .fallback, !entry.hasFile else { return nil }
            return "\(variable)=\(entry.shown.quotedForShell)"
        }
    }
}

extension String {
    /// The text as one word of a shell.
    fileprivate var quotedForShell: String {
        let isPlain =
            !isEmpty
            && unicodeScalars.allSatisfy {
                $0.isASCII && $0.properties.isAlphabetic || "0123456789-_./:,@%+=".unicodeScalars.contains($0)
            }
        guard !isPlain else { return self }
        return "'" + split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }
}
