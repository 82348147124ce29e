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

// The mistakes in the settings of one source.

extension ProviderSettings {
    /// Settings that contradict each other, whatever the program is asked to do; `setting` names a variable.
    func mistakes(_ setting: (String) -> String) -> [String] {
        var mistakes = insecureAddresses(setting)
        if address != nil, !metadata.isEmpty {
            mistakes.append(
                "\(setting("AUTHORITY")) and \(setting("METADATA_URL")) are both set; set the one that you mean.")
        }
        if lacksAuthority {
            mistakes.append(
                "\(setting("POLICIES")) is set without \(setting("AUTHORITY")), whose policies they are.")
        }
        if let address, !policies.isEmpty, ProviderKind(host: address.host) == .externalID {
            mistakes.append(
                "\(setting("POLICIES")): Entra External ID has no policies; its user flows belong to applications. "
                    + "Remove the setting.")
        }
        return mistakes
    }

    private func insecureAddresses(_ setting: (String) -> String) -> [String] {
        let all = (address.map { [("AUTHORITY", $0)] } ?? []) + metadata.map { ("METADATA_URL", $0) }
        return all.compactMap { name, url in
            guard !url.isEncrypted, !url.isLoopback, !allowHTTP else { return nil }
            return
                "\(setting(name)): http://\(url.host) can be read and changed on the network path; use https://, or set "
                + "\(setting("ALLOW_HTTP_AUTHORITY"))=true if the network in between is yours alone."
        }
    }
}

extension SourceSettings {
    /// The settings that a source needs and does not have.
    var whatIsMissing: [String] {
        var missing: [String] = []
        if provider.isAbsent {
            missing.append(
                "\(setting("AUTHORITY")) is not set. Example: \(setting("AUTHORITY"))=https://contoso.b2clogin.com/"
                    + "contoso.onmicrosoft.com (or \(setting("METADATA_URL")) for a provider other than Microsoft)")
        }
        if provider.address != nil, provider.policies.isEmpty, provider.kind == .b2c {
            missing.append(
                "\(setting("POLICIES")) is not set. Example: \(setting("POLICIES"))=b2c_1_sign_up,b2c_1_sign_in")
        }
        if claims.clientIdentifiers.isEmpty {
            missing.append(
                "\(setting("CLIENT_ID")) is not set: the application id that tokens must be issued for. Example: "
                    + "\(setting("CLIENT_ID"))=580e250c-8f26-49d0-bee8-1c078add1609")
        }
        return missing
    }

    /// The settings with which tokens could not be trusted.
    var whatIsUnsafe: [String] { tenantMistakes + documentMistakes }

    /// An authority of many tenants serves a list of them (P-5), whose people have owners of both claims (P-16).
    private var tenantMistakes: [String] {
        let isTemplate = provider.issuer.map(IssuerTenant.isTemplate) ?? false
        var mistakes: [String] = []
        if provider.isOfManyTenants || isTemplate, provider.tenants.isEmpty {
            mistakes.append(
                "\(setting("TENANTS")) is not set, and the authority is for many tenants: list the ids of those that may use "
                    + "this API, or * if every one may.")
        }
        if !provider.tenants.isEmpty, provider.kind != .other, !provider.isOfManyTenants, !isTemplate {
            mistakes.append(
                "\(setting("TENANTS")) is set, but the authority is for one tenant; remove the setting, or name the authority "
                    + "https://login.microsoftonline.com/organizations.")
        }
        if !provider.tenants.isEmpty, claims.ownerClaim == "oid" {
            mistakes.append(
                "\(setting("OWNER_CLAIM")): oid identifies a person only within one tenant; with several, use tid+oid.")
        }
        return mistakes
    }

    /// Why these metadata documents cannot be trusted together, as far as their addresses show it.
    ///
    /// Within a source, owners and audiences are not distinguished by issuer, so a second provider could speak for the
    /// people of the first. What only the documents show is refused when they are loaded.
    private var documentMistakes: [String] {
        let name = setting("METADATA_URL")
        let locations = provider.metadata.map { ($0.text, MetadataLocation($0.text)) }
        var mistakes: [String] = []
        for (text, location) in locations {
            guard let location else {
                mistakes.append("\(name): \(text) is not a plain web address.")
                continue
            }
            if location.namesSeveralPolicies {
                mistakes.append("\(name): \(text) names two policies; name one, in the path or as ?p=.")
            }
            if location.lacksPolicy {
                mistakes.append(
                    "\(name): \(text) is of Azure AD B2C and names no policy, so no policy can be demanded of "
                        + "tokens; set \(setting("AUTHORITY")) and \(setting("POLICIES")) instead.")
            }
        }
        guard let (first, provider) = locations.first, let provider else { return mistakes }
        for (text, location) in locations.dropFirst() where !(location?.isSameProvider(as: provider) ?? true) {
            mistakes.append(
                "\(name): \(first) and \(text) are of two providers or tenants. People whose "
                    + "\(setting("OWNER_CLAIM")) has the same value at both would share their tasks, and each could issue tokens "
                    + "for the other's people. Make each a source of its own (TASKS_SOURCES).")
        }
        return mistakes
    }
}

/// All sources of tokens: that of the settings without a name, and named ones beside it (P-1).
struct SourcesSettings: Sendable {
    private let unnamed: SourceSettings
    private let named: [SourceSettings]

    init(reading reader: inout SettingReader) {
        unnamed = SourceSettings(reading: &reader, name: nil)
        named = reader.groups(
            "SOURCE",
            help: "The names of further providers, whose tokens are accepted as well; each has settings of its own."
        ) { reader, name in SourceSettings(reading: &reader, name: name) }
    }

    /// All sources in their order, at least one; the source without a name comes first, if it is configured.
    var all: [SourceSettings] { unnamed.isGiven || named.isEmpty ? [unnamed] + named : named }

    var isGiven: Bool { unnamed.isGiven || !named.isEmpty }

    /// The scopes that clients of the sources ask for, each once.
    var scopesToAsk: [String] { all.flatMap(\.scopes.toAsk).withoutDuplicates }

    /// The mistakes with which a server does not start.
    var mistakes: [String] {
        let own = all.flatMap { $0.whatIsMissing + $0.whatIsUnsafe }
        return own + sameProviders
    }

    /// Finds two sources of one provider, since a token could belong to either (P-2).
    private var sameProviders: [String] {
        all.indices.flatMap { index in
            all[..<index].compactMap { first -> String? in
                let second = all[index]
                guard let address = second.location(sharedWith: first) else { return nil }
                let word = second.provider.address == nil ? "METADATA_URL" : "AUTHORITY"
                return "\(second.setting(word)): \(address) is of the provider of "
                    + "\(first.name.map { "the source \($0)" } ?? "TASKS_AUTHORITY or TASKS_METADATA_URL"), and a token "
                    + "belongs to one source. Policies of one tenant belong into one source."
            }
        }
    }
}

extension SourceSettings {
    /// Returns the address of a document that belongs to the provider of another source, if there is one.
    fileprivate func location(sharedWith other: SourceSettings) -> String? {
        let known = other.source.documents.compactMap { MetadataLocation($0.metadataURL) }
        return source.documents.map(\.metadataURL).first { address in
            guard let location = MetadataLocation(address) else { return false }
            // One host may serve a tenant of B2C and the same tenant of External ID: their issuers differ.
            return known.contains { ($0.policy == nil) == (location.policy == nil) && location.isSameProvider(as: $0) }
        }
    }
}
