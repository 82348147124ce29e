import Basics
import IssuerKeys
import Settings
import Tokens

/// The settings of one source of tokens: a provider or one tenant of it, complete in itself (P-1).
struct SourceSettings: Sendable {
    /// The name; nil for the settings without a name.
    let name: String?
    let provider: ProviderSettings
    let claims: ClaimSettings
    let scopes: ScopeSettings
    let owners: OwnerNamespace

    init(reading reader: inout SettingReader, name: String?) {
        self.name = name
        provider = ProviderSettings(reading: &reader, named: name != nil)
        claims = ClaimSettings(reading: &reader, of: provider, named: name != nil)
        scopes = ScopeSettings(reading: &reader)
        owners =
            name == nil
            ? .bare
            : reader.value(
                "OWNERS", .owners, default: "own",
                help: "Whose tasks: own ones of the source, those of the source without a name (shared) or of another "
                    + "(shared:NAME) of the same tenant, whose id (GUID) stands in the settings, or those without a namespace "
                    + "(bare).")
        for mistake in provider.mistakes(setting) { reader.mistake(mistake) }
    }

    /// The variable of a setting: `TASKS_SOURCE_EXT_AUTHORITY`.
    func setting(_ word: String) -> String { source.setting(word) }

    /// Whether these settings are a source; the settings without a name may be empty if there are named sources.
    var isGiven: Bool { name != nil || !provider.isAbsent || !claims.clientIdentifiers.isEmpty }

    /// The source as the verifier has it.
    var source: TokenSource {
        var rules = ClaimRules(
            audiences: [], ownerClaim: OwnerClaim(claims.ownerClaim), clockSkew: claims.clockSkew.components.seconds,
            longestLifetime: claims.longestLifetime.components.seconds)
        rules.audience = claims.audience
        rules.scopes = scopes.rules(provider.kind)
        rules.kind = claims.kind
        rules.tenants = provider.acceptedTenants
        rules.isMicrosoft = provider.kind == .externalID || provider.kind == .microsoft
        var source = TokenSource(name: name, documents: provider.documents, rules: rules)
        source.owners = owners
        source.keyHosts = provider.keyHosts
        source.algorithms = provider.acceptedAlgorithms
        source.end = claims.end
        return source
    }
}

extension ProviderSettings {
    /// The documents that lead to the keys: of the authority, of each of its policies, or each metadata document.
    fileprivate var documents: [MetadataDocument] {
        guard let address else {
            return metadata.map { url in
                MetadataDocument(
                    metadataURL: url.text, pinnedIssuer: issuer, allowHTTP: allowHTTP, caFile: certificates)
            }
        }
        let policies: [String?] = policies.isEmpty ? [nil] : policies
        return policies.map { policy in
            MetadataDocument(
                authority: address.text, policy: policy, pinnedIssuer: issuer, allowHTTP: allowHTTP,
                caFile: certificates)
        }
    }
}

extension SettingKind where Value == OwnerNamespace {
    fileprivate static let owners = SettingKind(
        placeholder: "own|shared|shared:NAME|bare", expected: "own, shared, shared:NAME or bare", example: "shared"
    ) { text in
        switch text {
        case "own": .own
        case "bare": .bare
        case "shared": .shared(with: nil)
        default: text.hasPrefix("shared:") ? .shared(with: String(text.dropFirst("shared:".count))) : nil
        }
    }
}
