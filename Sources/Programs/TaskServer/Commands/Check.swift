import Basics
import HTTPServer
import IssuerKeys
import OpenSSL
import Platform
import PostgreSQLStore
import SQLiteStore
import Settings
import Tasks
import Tokens

/// `task-server check`: prints a line for each thing that a server needs, with the verdict as its first word.
///
/// Changes nothing: a database that is missing is not made, its folder is only tried, and an older one stays as it is.
func check(_ settings: ServerSettings) -> ExitStatus {
    let findings =
        sourceFindings(settings) + storageFindings(settings) + transportFindings(settings.transport)
        + listenFindings(settings) + publicAddressFindings(settings)
    for finding in findings { StandardStream.output.print(finding.line) }
    return findings.contains(where: \.isWrong) ? .failure : .success
}

/// One line of a check, with its message.
enum Finding {
    case good(String)
    /// It works, and perhaps not as it was meant.
    case warning(String)
    case wrong(String)
    /// A check cannot find out the truth. The message says how else to.
    case open(String)

    fileprivate var line: String {
        switch self {
        case .good(let message): "good  \(message)"
        case .warning(let message): "warn  \(message)"
        case .wrong(let message): "WRONG \(message)"
        case .open(let message): "open  \(message)"
        }
    }

    fileprivate var isWrong: Bool { if case .wrong = self { true } else { false } }
}

private func storageFindings(_ settings: ServerSettings) -> [Finding] {
    let storage = settings.storage
    var findings: [Finding] = []
    switch storage.database {
    case .memory: findings.append(.good("database: a temporary one; it is removed when the server ends"))
    case .sqlite(let path): findings.append(databaseFinding(path))
    case .postgresql(let address):
        do throws(OperatorError) {
            findings.append(.good("database: \(try PostgreSQLTaskStore.check(address))"))
        } catch {
            findings.append(.wrong("database: \(error.message)"))
        }
    }
    if let mistake = settings.keyCacheMistake {
        findings.append(.wrong("keys: \(mistake)"))
    } else if let path = storage.keyCache, let problem = keyCacheProblem(path) {
        findings.append(
            .wrong(
                "keys: \(problem); without this file, after a restart, tokens cannot be verified until the authority can be "
                    + "reached (TASKS_KEY_CACHE_FILE)"
            ))
    }
    do throws(SystemError) {
        let files = try PublicFiles.read(storage.folder)
        let missing = PublicFiles.missing(in: files)
        let names = missing.joined(separator: ", ")
        let advice = missing.isEmpty ? "" : "; without \(names), links to them are 404 (TASKS_PUBLIC)"
        let message = "page: \(files.count.counted("file"))\(advice)"
        findings.append(storage.folder == .none || missing.isEmpty ? .good(message) : .warning(message))
    } catch {
        findings.append(.wrong("page: TASKS_PUBLIC: cannot \(error); name the folder of the page, or off"))
    }
    return findings
}

private func transportFindings(_ transport: TransportSettings) -> [Finding] {
    let credentials: ServerCredentials
    do throws(OperatorError) {
        guard let read = try transport.credentials() else { return [] }
        credentials = read
    } catch {
        return [.wrong("TLS: \(error.message)")]
    }
    let now = SystemTime().wallMilliseconds / 1000
    let flaws = credentials.flaws(at: now)
    guard flaws.isEmpty else { return flaws.map { .wrong("TLS: \($0.message)") } }
    let days = credentials.daysLeft(at: now)
    let advice = days < ServerCredentials.fewDays ? "; renew it" : ""
    let names = credentials.own.names.joined(separator: ", ")
    let term = "until \(credentials.end.asDate) (\(days.counted("day")))\(advice)"
    return [.good("TLS: the certificate is for \(names), \(term); the key belongs to it")]
}

/// Warns that other machines find no metadata of the protected resource if the server does not know its own address.
private func publicAddressFindings(_ settings: ServerSettings) -> [Finding] {
    if let address = settings.transport.publicAddress {
        return [.good("address: clients reach the server at \(address)")]
    }
    guard settings.listen.contains(where: { !$0.isLoopback }) else { return [] }
    return [
        .good(
            "address: TASKS_PUBLIC_URL is not set, so /.well-known/oauth-protected-resource is 404 for other machines")
    ]
}

private func databaseFinding(_ path: String) -> Finding {
    guard File.exists(path) else {
        guard let obstacle = obstacle(toWriting: path) else {
            return .good("database: \(path) will be created at the first start")
        }
        return .wrong("database: \(path) does not exist and cannot be created: \(obstacle) (TASKS_DATABASE)")
    }
    do throws(OperatorError) {
        let usable = "database: \(path) can be read and written"
        switch try SQLiteFile(path).check() {
        case .upToDate: return .good(usable)
        case .outdated: return .good("\(usable); tables will be brought up to date at the next start")
        case .empty where obstacle(toWriting: path) == nil:
            return .good("database: \(path) is empty; tables will be created at the first start")
        case .empty: throw .unwritableDatabase(path, "no file can be made beside it")
        }
    } catch {
        if error.isDatabaseLocked { return .good("database: \(path) is in use by a task-server that runs") }
        return .wrong("database: \(error.message)")
    }
}

/// Why the keys could not be kept there, and what to do.
private func keyCacheProblem(_ path: String) -> String? {
    if let kind = File.otherKind(path) { return "\(path) is \(kind), not a file; name a file, or off" }
    if let obstacle = obstacle(toWriting: path) { return "\(path) cannot be written: \(obstacle)" }
    do throws(SystemError) {
        return try KeyFile.mayReplace(path) ? nil : "\(path) \(KeyFile.foreignContent)"
    } catch {
        return "cannot \(error); let the server's user read it, or remove it"
    }
}

/// Why no file can be made in the folder of this one, and what to do; nil if one can.
private func obstacle(toWriting path: String) -> String? {
    let probe = "\(path).check"
    let folder = File.folder(of: path)
    guard File.exists(folder) else { return "there is no folder \(folder); make it, or correct the path" }
    defer { File.remove(probe) }
    do throws(SystemError) {
        try File.replace(probe, with: [])
        return nil
    } catch {
        return "\(error.reason); the server's user must be able to write in the folder \(folder)"
    }
}

/// Whether the server could listen at its addresses; port 0 is always free.
func listenFindings(_ settings: ServerSettings) -> [Finding] {
    var wanted = settings.listen.map { ("TASKS_LISTEN", $0, settings.transport.isSecure) }
    if let address = settings.adminListen { wanted.append(("TASKS_ADMIN_LISTEN", address, false)) }
    return wanted.indices.filter { wanted[$0].1.port != 0 }.map { index in
        let (setting, address, isSecure) = wanted[index]
        // The system does not tell: it lets both be bound, and refuses the second one that listens.
        if let other = wanted[..<index].first(where: { $0.1.excludes(address) })?.1 {
            let fault = other == address ? "is named twice" : "and \(other) exclude each other"
            return .wrong("listen: \(setting): \(address) \(fault); choose another port")
        }
        return finding(setting, address, isSecure, onlyIPv6: address.leavesIPv4(to: settings.listen))
    }
}

private func finding(_ setting: String, _ address: ListenAddress, _ isSecure: Bool, onlyIPv6: Bool) -> Finding {
    do throws(OperatorError) {
        _ = try ServerSocket(bindingTo: address.host, port: address.port, onlyIPv6: onlyIPv6)
        return .good("listen: \(address) is free")
    } catch {
        if error == .addressInUse, isServerAlive(at: address, overTLS: isSecure) {
            return .good("listen: \(address) is in use by a task-server that runs")
        }
        return .wrong("listen: \(setting): cannot listen on \(address): \(error.message)")
    }
}

/// What `check` finds of token sources: a line for each metadata document, and one for what a source accepts (P-34).
func sourceFindings(_ settings: ServerSettings) -> [Finding] {
    let configuration = settings.issuerKeys
    let reports = configuration.check()
    return configuration.sources.indices.flatMap { index in
        let source = configuration.sources[index]
        let own = reports.filter { $0.source == source.name }
        let accepted =
            "\(source.label): \(source.accepted), owners \(source.owners(configuration, index)). No provider says whether "
            + "such a client id exists: sign in with a client, and give its token to task-server explain-token"
        return own.flatMap { $0.findings(source.label) } + [.open(accepted)]
    } + (configuration.warnings + settings.sources.all.flatMap(\.oddClients)).map { .warning($0) }
}

extension SourceSettings {
    /// Warnings about client ids that Microsoft has never given: those are GUIDs, perhaps in the address of an API.
    fileprivate var oddClients: [String] {
        guard provider.kind != .other else { return [] }
        let odd = claims.clientIdentifiers.filter { identifier in
            GUID.canonical(identifier) == nil && !["api://", "https://"].contains { identifier.hasPrefix($0) }
        }
        return odd.map { identifier in
            "\(setting("CLIENT_ID")): \(identifier.printable(64)) is no GUID, as the ids of Microsoft's applications are; "
                + "copy the application (client) id from the portal"
        }
    }
}

extension DocumentReport {
    fileprivate func findings(_ label: String) -> [Finding] {
        let name = "\(label), \(document)"
        guard let contents else { return [.wrong("\(name): \(problem ?? "it could not be loaded")")] }
        // Without policies, tokens that name one are refused: a B2C tenant must be configured with its policies.
        let tokens = policy.map { "of the policy \($0)" } ?? "that name no B2C policy"
        let address = document == metadataURL ? "" : "\(metadataURL), "
        let issuer = "issuer \(contents.issuer.printable()) (\(contents.basis.explanation))"
        let host = WebAddress(contents.keySetURL)?.host ?? "?"
        let skipped = contents.skipped.map { Finding.warning("\(name): a published key is not used: \($0.reason)") }
        return [.good("\(name): \(address)\(issuer), \(contents.keys) from \(host), for tokens \(tokens)")] + skipped
    }
}

extension DocumentReport.Contents {
    /// The usable keys by their algorithms: `2 RS256 keys and 1 ES256 key`.
    fileprivate var keys: String {
        SignatureAlgorithm.allCases.compactMap { algorithm in
            let count = algorithms.count { $0 == algorithm }
            return count == 0 ? nil : count.counted("\(algorithm.rawValue) key")
        }.joined(separator: " and ")
    }
}

extension IssuerBasis {
    fileprivate var explanation: String {
        switch self {
        case .pinned: "as the settings demand"
        case .sameHost: "on the host of the metadata"
        case .derived: "as Microsoft has it for this address"
        }
    }
}

extension TokenSource {
    fileprivate var label: String { name.map { "source \($0)" } ?? "authority" }

    /// Audiences, tenants, kind of token and end.
    fileprivate var accepted: String {
        let claim = rules.audience.claim == "aud" ? "" : " (\(rules.audience.claim))"
        var parts = ["audience\(claim) \(rules.audience.accepted.joined(separator: " or "))"]
        if let tenants = rules.tenants {
            parts.append(tenants.isAny ? "every tenant" : "tenants \(tenants.listed.joined(separator: ", "))")
        }
        switch rules.kind {
        case .access: parts.append("access tokens")
        case .id: parts.append("ID tokens")
        case .any: break
        }
        if let end { parts.append("until \(Timestamp(seconds: end).text.prefix(10))") }
        return parts.joined(separator: ", ")
    }

    /// The form of owners in the store: `ext:<oid>`.
    fileprivate func owners(_ configuration: IssuerKeysConfiguration, _ index: Int) -> String {
        let claim =
            switch rules.owner.claim {
            case .objectIdentifier: "<oid>"
            case .tenantAndObject: "<tid>+<oid>"
            case .other(let name): "<\(name)>"
            }
        let form = configuration.ownerPrefix(ofSource: index) + claim
        guard case .shared(let other) = owners else { return form }
        return "\(form), shared with \(other.map { "source \($0)" } ?? "the source without a name")"
    }
}
