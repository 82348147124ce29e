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

/// `task-server check`: tries what a start needs, without listening, and prints a line for each, its verdict first.
///
/// Changes nothing: a database that is missing is not made, its folder is only tried, and an older one stays as it is.
func check(_ settings: ServerSettings) -> ExitStatus {
    let findings =
        sourceFindings(settings) + storageFindings(settings) + transportFindings(settings.transport)
        + listenFindings(settings) + addressFindings(settings)
    for finding in findings { StandardStream.output.print("\(finding.verdict.rawValue) \(finding.message)") }
    return findings.contains { $0.verdict == .wrong } ? .failure : .success
}

private struct Finding {
    enum Verdict: String {
        case good = "good "
        /// It works, and perhaps not as it was meant.
        case warning = "warn "
        case wrong = "WRONG"
        /// A check cannot find out the truth. The message says how else to.
        case open = "open "
    }

    let verdict: Verdict
    let message: String

    init(_ verdict: Verdict, _ message: String) { (self.verdict, self.message) = (verdict, message) }

    /// Tries one thing, which says in what state it is, or why it cannot be used.
    init(_ topic: String, _ attempt: () throws(OperatorError) -> String) {
        do throws(OperatorError) {
            self.init(.good, "\(topic): \(try attempt())")
        } catch {
            self.init(.wrong, "\(topic): \(error.message)")
        }
    }
}

// MARK: Files and addresses

private func storageFindings(_ settings: ServerSettings) -> [Finding] {
    let storage = settings.storage
    var findings = [Finding("database") { () throws(OperatorError) in try state(of: storage.database) }]
    let problem = storage.keyCache.flatMap(keyCacheProblem).map { problem in
        "\(problem); without this file, after a restart, tokens cannot be verified until the authority can be reached "
            + "(TASKS_KEY_CACHE_FILE)"
    }
    if let keys = settings.keyCacheMistake ?? problem { findings.append(Finding(.wrong, "keys: \(keys)")) }
    do throws(OperatorError) {
        let files = try PublicFiles.read(storage.folder)
        let names = storage.folder == .none ? [] : PublicFiles.missing(in: files)
        let list = names.joined(separator: ", ")
        let advice = names.isEmpty ? "" : "; without \(list), links to them are 404 (TASKS_PUBLIC)"
        findings.append(Finding(names.isEmpty ? .good : .warning, "page: \(files.count.counted("file"))\(advice)"))
    } catch {
        findings.append(Finding(.wrong, "page: \(error.message)"))
    }
    return findings
}

private func state(of database: DatabaseLocation) throws(OperatorError) -> String {
    switch database {
    case .memory: "a temporary one; it is removed when the server ends"
    case .postgresql(let address): try PostgreSQLTaskStore.check(address)
    case .sqlite(let path): try SQLiteFile(path).check()
    }
}

/// Why the keys could not be kept there, and what to do.
private func keyCacheProblem(_ path: String) -> String? {
    if let kind = File.otherKind(path) { return "\(path) is \(kind), not a file; name a file, or off" }
    if let obstacle = File.obstacle(toMaking: path) { return "\(path) cannot be written: \(obstacle)" }
    do throws(SystemError) {
        return try KeyFile.mayReplace(path) ? nil : "\(path) \(KeyFile.foreignContent)"
    } catch {
        return "cannot \(error); let the server's user read it, or remove it"
    }
}

private func transportFindings(_ transport: TransportSettings) -> [Finding] {
    do throws(OperatorError) {
        guard let credentials = try transport.credentials() else { return [] }
        let now = SystemTime().wallMilliseconds / 1000
        let flaws = credentials.flaws(at: now)
        guard flaws.isEmpty else { return flaws.map { Finding(.wrong, "TLS: \($0.message)") } }
        let days = credentials.daysLeft(at: now)
        let term = "until \(credentials.end.asDate) (\(days.counted("day")))"
        let names = credentials.own.names.joined(separator: ", ")
        let advice = days < ServerCredentials.fewDays ? "; renew it" : ""
        return [Finding(.good, "TLS: the certificate is for \(names), \(term)\(advice); the key belongs to it")]
    } catch {
        return [Finding(.wrong, "TLS: \(error.message)")]
    }
}

/// Tries to bind each address; port 0 is always free.
private func listenFindings(_ settings: ServerSettings) -> [Finding] {
    let wanted = settings.addresses
    return wanted.indices.filter { wanted[$0].address.port != 0 }.map { index in
        let (setting, address, isSecure) = wanted[index]
        return Finding("listen") { () throws(OperatorError) in
            // The system does not tell: it lets both be bound, and refuses the second one that listens.
            if let other = wanted[..<index].first(where: { $0.address.excludes(address) })?.address {
                let fault = other == address ? "is named twice" : "and \(other) exclude each other"
                throw OperatorError("\(setting): \(address) \(fault); choose another port")
            }
            do throws(OperatorError) {
                _ = try ServerSocket(bindingTo: address, besides: settings.listen)
                return "\(address) is free"
            } catch {
                guard error == .addressInUse, isServerAlive(at: address, overTLS: isSecure) else {
                    throw OperatorError(address, setting, error)
                }
                return "\(address) is in use by a task-server that runs"
            }
        }
    }
}

/// Says where other machines find no metadata of the protected resource, as the server does not know its own address.
private func addressFindings(_ settings: ServerSettings) -> [Finding] {
    if let address = settings.transport.publicAddress {
        return [Finding(.good, "address: clients reach the server at \(address)")]
    }
    guard settings.listen.contains(where: { !$0.isLoopback }) else { return [] }
    let text = "TASKS_PUBLIC_URL is not set, so /.well-known/oauth-protected-resource is 404 for other machines"
    return [Finding(.good, "address: \(text)")]
}

// MARK: Token sources

/// A line for each metadata document, and one for what a source accepts (P-34).
private func sourceFindings(_ settings: ServerSettings) -> [Finding] {
    let configuration = settings.issuerKeys
    let reports = configuration.check()
    return configuration.sources.enumerated().flatMap { index, source in
        let accepted =
            "\(source.label): \(source.accepted), owners \(source.owners(configuration, index)). No provider says whether "
            + "such a client id exists: sign in with a client, and give its token to task-server explain-token"
        return reports.filter { $0.source.name == source.name }.flatMap(\.findings) + [Finding(.open, accepted)]
    } + configuration.warnings.map { Finding(.warning, $0) }
}

extension DocumentReport {
    fileprivate var findings: [Finding] {
        let name = "\(source.label), \(document.name)"
        guard let (metadata, basis) = trusted else {
            return [Finding(.wrong, "\(name): \(problem ?? "it could not be loaded")")]
        }
        // Without policies, tokens that name one are refused: a B2C tenant must be configured with its policies.
        let tokens = document.policy.map { "of the policy \($0)" } ?? "that name no B2C policy"
        let address = document.name == document.metadataURL ? "" : "\(document.metadataURL), "
        let issuer = "issuer \(metadata.issuer.printable()) (\(basis.explanation))"
        let origin = "\(countedKeys) from \(WebAddress(metadata.keySetURL)?.host ?? "?")"
        let skipped = skipped.map { Finding(.warning, "\(name): a published key is not used: \($0.reason)") }
        return [Finding(.good, "\(name): \(address)\(issuer), \(origin), for tokens \(tokens)")] + skipped
    }

    /// The usable keys by their algorithms: `2 RS256 keys and 1 ES256 key`.
    private var countedKeys: String {
        SignatureAlgorithm.allCases.compactMap { algorithm in
            let count = keys.count { $0.algorithm == algorithm }
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
        let tenants = rules.tenants.map { $0.isAny ? "every tenant" : "tenants \($0.listed.joined(separator: ", "))" }
        let kind: String? =
            switch rules.kind {
            case .access: "access tokens"
            case .id: "ID tokens"
            case .any: nil
            }
        let end = end.map { "until \(Timestamp(seconds: $0).text.prefix(10))" }
        let audience = "audience\(claim) \(rules.audience.accepted.joined(separator: " or "))"
        return [audience, tenants, kind, end].compactMap(\.self).joined(separator: ", ")
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
