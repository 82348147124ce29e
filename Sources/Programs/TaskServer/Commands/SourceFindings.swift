import Basics
import IssuerKeys
import Tokens

/// What `check` finds of the sources of tokens: a line for each metadata document, and one for what each source accepts
/// (P-34).
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
    } + configuration.warnings.map { .warning($0) }
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
